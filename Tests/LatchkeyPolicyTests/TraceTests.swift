// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyPolicy
import Testing

/// Replays recorded traces; the tests report every event whose effects differ from the recorded ones.
///
/// To record the effects of new or existing traces, run `LATCHKEY_WRITE_POLICY_TRACES=1 swift test --filter
/// TraceTests` and review the difference before committing it.
@Suite struct TraceTests {
    private static let writes = ProcessInfo.processInfo.environment["LATCHKEY_WRITE_POLICY_TRACES"] != nil

    @Test(.enabled(if: writes, "only to record the effects"), arguments: PolicyTrace.names)
    func recordEffects(_ name: String) throws { try PolicyTrace(name: name).replayed().write() }

    @Test(.disabled(if: writes), arguments: PolicyTrace.names)
    func replayedTraceHasTheRecordedEffects(_ name: String) throws {
        let recorded = try PolicyTrace(name: name)
        for difference in try recorded.replayed().differences(from: recorded) {
            Issue.record("\(difference)")
        }
    }

    @Test(.disabled(if: writes)) func tracesCoverEveryKindOfEffect() throws {
        let verbs = try PolicyTrace.names.flatMap { try PolicyTrace(name: $0).steps }.flatMap(\.effects)
            .map { String($0.prefix { $0.isLetter }) }
        #expect(
            Set(verbs) == [
                "show", "update", "dismiss", "arm", "disarm", "checkPasscode", "startDeadline", "reply", "persist",
                "persistPermissions", "persistFirst", "startDelay",
            ])
    }

    @Test func changedEffectIsReportedWithItsLine() throws {
        let recorded = try PolicyTrace(
            name: "story", text: "# A story.\n0:00:00 passcodeExists true\n0:00:01 evaluate 1 biometry\n    arm 1")
        #expect(
            try recorded.replayed().differences(from: recorded) == [
                "story:3: 0:00:01 evaluate 1 biometry\n    - arm 1\n    + reply 1: denied biometryNotAvailable"
            ])
    }

    @Test(arguments: [
        "evaluate 1 biometry", "0:00:60 locked", "0:0 locked", "0:00:00 evaluate 1", "0:00:00 evaluate 1 finger",
        "0:00:00 matched 1", "0:00:00 withdrawn 1 nothing", "0:00:00 locked 1", "0:00:00 passcodeChecked 1 maybe",
        "0:00:00 evaluate 1 biometry reuse", "-1:00:00 locked",
    ])
    func malformedLineIsRejected(_ line: String) {
        #expect(throws: TraceError.self) { try TraceWords.event(line) }
    }

    @Test func effectsWithoutAnEventAreRejected() {
        #expect(throws: TraceError.self) { try PolicyTrace(name: "story", text: "    arm 1") }
    }
}
