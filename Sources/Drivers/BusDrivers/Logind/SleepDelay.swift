// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// Delays sleep until keys are removed from memory: a file of logind's, open while sleep has to wait. logind waits a few
/// seconds at most. Used on the bus's thread only.
final class SleepDelay {
    private let name: BusNameOwner
    private let timing: LogindSessions.Timing
    private let log: any EventLog
    private var file: BusFile?
    private var isTaking = false

    init(_ name: BusNameOwner, _ timing: LogindSessions.Timing, log: any EventLog) {
        (self.name, self.timing, self.log) = (name, timing, log)
    }

    /// Asks logind to wait before the next sleep.
    func take() {
        guard file == nil, !isTaking, let owner = name.owner else { return }
        isTaking = true
        let call = BusCall(
            owner, LogindName.managerPath, LogindName.manager, "Inhibit",
            [
                .string("sleep"), .string("latchkey-authd"), .string("Keys are removed from memory before sleep"),
                .string("delay"),
            ])
        name.bus.call(call, milliseconds: timing.call) { [self] result in
            isTaking = false
            guard name.owner == owner else { return }
            if case .success(let values) = result, case .file(let taken)? = values.first {
                file = taken
                return
            }
            var cause = BusError.malformed
            if case .failure(let error) = result { cause = error }
            log.record(
                .sleepNotDelayed,
                Failure(
                    .notPermitted,
                    "Sleep does not wait until keys are removed from memory (\(cause.description)).",
                    hint: "polkit decides: pkaction --verbose --action-id org.freedesktop.login1.inhibit-delay-sleep"))
        }
    }

    func release() { file = nil }

    /// logind has ended, and with it the delay.
    func forget() { file = nil }
}
