// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// The slot of `U_pass` in the anchor: version, cost, salt, then `U_pass` sealed under the stretched passcode and
/// again under `K_root`. Without the root key, a copied anchor does not allow guessing the passcode.
enum PasscodeSlot {
    private static let version: UInt8 = 1
    private static let headBytes = 2 + StretchParameters.saltBytes

    /// Seals `key` in a new slot under a stretched passcode.
    static func make(
        _ key: SymmetricKey, behind passcode: StretchedPassword, _ tree: KeyTree
    ) throws(Failure) -> [UInt8] {
        let head = [version] + passcode.parameters.bytes
        let associatedData = associatedData(tree, head)
        let inner = try passcode.key.seal(key.secret, nonce: tree.nonce(), authenticating: associatedData)
        return head + (try tree.rootKey.seal(SecretBytes(inner), nonce: tree.nonce(), authenticating: associatedData))
    }

    /// Base-2 logarithm of scrypt's N that the slot was made with; 0 for a malformed slot.
    static func cost(_ slot: [UInt8]) -> UInt8 { slot.count > 1 ? slot[1] : 0 }

    /// Opens a slot; nil for a wrong passcode. Throws `storeUnreadable` for a slot that was changed. Blocks for the
    /// duration of scrypt.
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
