// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Observes the passcode of a simulated machine, and verifies it in place of a typed one if the script accepts any
/// passcode.
package final class ScriptedAuthority: AuthorityDecorator {
    package let authority: any AuthenticationAuthority
    package let service = ServiceReference()
    private let passcode: KnownPasscode
    private let log: any EventLog
    /// The new passcode that was entered at a prompt and is not stored so far.
    private let chosen = Mutex<SecretBytes?>(nil)

    /// Wraps the authority of the machine of `world`; `log` receives failures that no reply reports.
    package init(_ authority: any AuthenticationAuthority, world: SimulatedWorld, log: any EventLog = UnwatchedLog()) {
        self.authority = authority
        passcode = world.passcode
        self.log = log
    }

    package func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, failed: @escaping @Sendable (TriedProof) -> Void,
        _ completion: @escaping @Sendable (Result<AuthenticationGrant, Failure>) -> Void
    ) -> UInt64 {
        authority.evaluate(request, of: caller, failed: failed) { [self] answer in
            if request.lastStep == .asksNewPasscode, case .success(let grant) = answer,
                case .text(let new)? = grant.entered
            {
                chosen.withLock { $0 = new }
            }
            completion(answer)
        }
    }

    package func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?) {
        switch change {
        case .locked, .background, .unlocked(byBiometry: true), .sessionLocked, .sessionUnlocked, .biometrySessions,
            .refusedWhileLocked:
            authority.report(change, then: then)
        case .unlocked(byBiometry: false):
            authority.report(change) { [self] failure in
                then?(failure)
                openPasscodeClass()
            }
        case .passcodeExists(let exists):
            if exists { learnChosen() } else { passcode.learn(nil) }
            authority.report(change, then: then)
        case .passcodeChanged:
            learnChosen()
            authority.report(change, then: then)
        }
    }

    package func open(_ typed: SecretBytes) throws(Failure) -> PasscodeVerdict {
        let verified = passcode.verified(insteadOf: typed)
        let verdict = try forward(verified)
        if case .right = verdict { passcode.learn(verified) }
        return verdict
    }

    private func learnChosen() {
        let new = chosen.withLock { chosen in
            defer { chosen = nil }
            return chosen
        }
        // A passcode that came with a request is learned by `ScriptedRequestHandler`.
        if let new { passcode.learn(new) }
    }

    /// Opens the items of the passcode class with the known passcode, since a script unlocks the device without typing
    /// one. Without a known passcode the class stays locked.
    private func openPasscodeClass() {
        guard !authority.state.isLocked, let known = passcode.known else { return }
        log.recording(.passcodeNotChecked) { () throws(Failure) in try forward(known) }
    }
}
