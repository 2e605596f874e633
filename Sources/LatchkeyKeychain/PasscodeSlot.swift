// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// The slot of `U_pass` in the anchor: version, cost, salt, then `U_pass` sealed under the stretched passcode and that again
/// under `K_root`, so that a copied anchor cannot be searched for the passcode without the root key.
enum PasscodeSlot {
    private static let version: UInt8 = 1
    private static let headBytes = 2 + StretchParameters.saltBytes

    /// A new slot behind a passcode that was stretched.
    static func make(
        _ key: SymmetricKey, behind passcode: StretchedPassword, _ tree: KeyTree
    ) throws(Failure) -> [UInt8] {
        let head = [version] + passcode.parameters.bytes
        let associatedData = associatedData(tree, head)
        let inner = try passcode.key.seal(key.secret, nonce: tree.nonce(), authenticating: associatedData)
        return head + (try tree.rootKey.seal(SecretBytes(inner), nonce: tree.nonce(), authenticating: associatedData))
    }

    /// The exponent of scrypt's cost that the slot was made with.
    static func cost(_ slot: [UInt8]) -> UInt8 { slot.count > 1 ? slot[1] : 0 }

    /// `U_pass`; nil for a wrong passcode. Blocks for the time of scrypt.
    static func open(_ slot: [UInt8], _ passcode: SecretBytes, _ tree: KeyTree) throws(Failure) -> SymmetricKey? {
        guard slot.count > headBytes, slot[0] == version,
            let parameters = StretchParameters(cost: slot[1], salt: Array(slot[2..<headBytes]))
        else { throw Failure.damagedStore("its passcode slot cannot be read") }
        let associatedData = associatedData(tree, Array(slot[..<headBytes]))
        guard let inner = try tree.rootKey.open(slot[headBytes...], authenticating: associatedData) else {
            throw Failure.damagedStore("its passcode slot was changed")
        }
        guard
            let secret = try StretchedPassword(passcode, parameters).key.open(
                inner.copyBytes(), authenticating: associatedData)
        else { return nil }
        return try KeyTree.key(secret)
    }

    private static func associatedData(_ tree: KeyTree, _ head: [UInt8]) -> [UInt8] {
        tree.associatedData(.passcodeSlot) + head
    }
}
