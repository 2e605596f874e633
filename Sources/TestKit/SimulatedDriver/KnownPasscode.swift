// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The passcode of a simulated machine, if the simulation has seen it, and whether the script accepts any passcode.
package final class KnownPasscode: Sendable {
    private struct State: Sendable {
        var known: SecretBytes?
        var acceptsAny = false
    }

    /// The passcode that simulated machines usually have: that of `sim start --ready`, and of a `Simulator`.
    static let usual = SecretBytes("1234".utf8)

    private let state = Mutex(State())

    /// The current passcode; nil if none is set, or if the simulation has not seen it.
    package var known: SecretBytes? { state.withLock { $0.known } }

    /// Stores the current passcode; nil when it was removed.
    package func learn(_ passcode: SecretBytes?) { state.withLock { $0.known = passcode } }

    /// Returns the passcode to verify instead of the typed one: the current one if the script accepts any passcode.
    package func verified(insteadOf typed: SecretBytes) -> SecretBytes {
        state.withLock { $0.acceptsAny ? $0.known ?? typed : typed }
    }

    /// Sets whether any passcode is accepted. Throws `passcodeNotSet` if the current one is not known.
    func acceptAny(_ isOn: Bool) throws(Failure) {
        let isKnown = state.withLock { state in
            guard !isOn || state.known != nil else { return false }
            state.acceptsAny = isOn
            return true
        }
        guard isKnown else {
            throw Failure(
                .passcodeNotSet, "The simulated machine has not seen its passcode since it was started.",
                hint: "Set it, or enter it once at a prompt.")
        }
    }
}
