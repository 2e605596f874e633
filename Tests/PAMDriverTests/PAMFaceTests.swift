// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import TestSupport
import Testing

@testable import ChildProcessDrivers

/// The driver with scripts in place of `latchkey-pam`. The program itself runs with PAM modules in
/// `test_services_face`.
@Suite struct PAMFaceTests {
    private let scripts: PAMScripts

    init() throws { scripts = try PAMScripts() }

    private static let user: UInt32 = 1000
    private static let success = PAMMessage.ended(.account, code: 0)

    private func driver(_ script: String, seconds: Int64 = 20) throws -> PAMFace {
        var places = PAMFace.Places(program: try scripts.program(script))
        places.service = try scripts.service()
        places.owner = getuid()
        return PAMFace(places, seconds: seconds, log: NoLog()) { $0 == Self.user ? AccountName("ada") : nil }
    }

    /// The event of one scan.
    private func scan(_ driver: PAMFace, user: UInt32 = PAMFaceTests.user) async -> SensorEvent {
        await withCheckedContinuation { continuation in
            driver.arm(1, user: user) { continuation.resume(returning: $0) }
        }
    }

    @Test func theSensorIsWeakAndItsSetIsThatOfTheUser() throws {
        let driver = try driver("")
        let state = driver.state(for: Self.user)
        #expect(state.kind == .faceID && state.isWeak && !state.reportsEnrolmentChanges)
        #expect(state.enrolment != nil && state.enrolment != driver.state(for: 1001).enrolment)
    }

    @Test func aServiceFileThatOthersCanChangeIsNoSensor() throws {
        let driver = try driver("")
        try #require(chmod(scripts.service(), 0o666) == 0)
        #expect(driver.state(for: Self.user) == .absent)
    }

    @Test func theProcessGetsTheAccountAndTheServiceOfFaces() async throws {
        let begin = PAMMessage.begin(try #require(AccountName("ada")), .face)
        let driver = try driver(scripts.read(begin, into: scripts.file("begin")) + scripts.send(Self.success))
        #expect(await scan(driver) == .match(try #require(driver.state(for: Self.user).enrolment), isVirtual: false))
        let first = try Data(contentsOf: URL(fileURLWithPath: scripts.file("begin")))
        #expect(Array(first) == Frame.bytes(begin.encoded()).copyBytes())
    }

    @Test(arguments: [
        (PAMMessage.ended(.authentication, code: 7), SensorEvent.noMatch),
        (.ended(.authentication, code: 11), .noMatch),
        // The first phase alone is no success, and an account may have expired.
        (.ended(.authentication, code: 0), .failed), (.ended(.account, code: 13), .failed),
        (.ended(.account, code: 7), .failed), (.ended(.authentication, code: 9), .failed),
        (.ended(.start, code: 0), .failed), (.ended(.account, code: 1 << 40), .failed),
        // A module that asks for a password must not make it a face.
        (.said(.hiddenQuestion, "Password:"), .failed), (.said(.shownQuestion, "Login:"), .failed),
        (.said(.other, ""), .failed),
    ])
    func onlyASuccessOfBothPhasesIsAMatch(_ message: PAMMessage, _ event: SensorEvent) async throws {
        // The process reads its first message before it says anything, as the program does.
        let begin = scripts.read(.begin(try #require(AccountName("ada")), .face))
        let driver = try driver(begin + scripts.send(.said(.information, "Looking"), message, Self.success))
        #expect(await scan(driver) == event)
    }

    @Test(arguments: ["exit 0\n", "kill -9 $$\n", "printf 'garbage, and more garbage' >&3; exec tail -f /dev/null\n"])
    func aProcessThatSaysNothingUsefulHasRecognisedNobody(_ script: String) async throws {
        #expect(await scan(try driver(script)) == .failed)
    }

    @Test func aUserWithoutAnAccountIsNotRecognised() async throws {
        #expect(await scan(try driver(scripts.send(Self.success)), user: 4242) == .failed)
    }

    @Test func aScanThatHangsFailsAtItsDeadlineAndItsProgramsEnd() async throws {
        let driver = try driver("echo $$ >\(scripts.file("pid"))\nexec tail -f /dev/null\n", seconds: 5)
        #expect(await scan(driver) == .failed)
        let text = try String(contentsOfFile: scripts.file("pid"), encoding: .utf8)
        let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(Processes.hasEnded(process, within: 10))
    }

    /// The second scan can only be reported if the first one, which would never end, was ended.
    @Test func aDisarmedScanEndsReportsNothingAndLetsTheNextOneBegin() async throws {
        let begun = try scripts.pipe("begun")
        let begin = scripts.read(.begin(try #require(AccountName("ada")), .face))
        let driver = try driver(
            "if mkdir \(scripts.file("first")) 2>/dev/null; then echo >\(begun); exec tail -f /dev/null; fi\n"
                + begin + scripts.send(.ended(.authentication, code: 7)))
        let events = Recorder<SensorEvent>()
        driver.arm(7, user: Self.user) { events.add($0) }
        try scripts.waitForLine("begun")
        driver.disarm(7)
        #expect(await scan(driver) == .noMatch)
        #expect(events.all.isEmpty)
    }
}

/// A log that stores nothing.
private final class NoLog: EventLog {
    func record(_ event: DaemonEvent, _ failure: Failure?) {}
}
