// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// Checks a passcode by opening its slot: the verifier of tiers `user` and `simulated`.
package final class PasscodeSlotVerifier: PasscodeVerifier {
    private let tree: KeyTree

    /// Checks against the slot of `tree`.
    package init(tree: KeyTree) { self.tree = tree }

    package var isPasscodeSet: Bool { (try? tree.isPasscodeSet()) ?? false }

    package func verify(_ passcode: SecretBytes) throws(Failure) -> Bool { try tree.unlock(passcode) }
}
