// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

/// The key that seals the slot of a new passcode.
package enum NewPasscodeKey: Sendable {
    case stretched(StretchedPassword)
    /// The key that `latchkey-authd` derived, 32 bytes, with the identifier of the passcode's secret, 16 bytes.
    case slotKey(SecretBytes, passcodeID: [UInt8])
}

/// The slot of `U_pass` in the anchor: a head, then `U_pass` sealed under a key of the passcode and again under
/// `K_root`. Without the root key, a copied anchor does not allow guessing the passcode.
///
/// The head is version 1, cost and salt if the daemon stretches the passcode; version 2 and the identifier of the
/// passcode's secret if `latchkey-authd` does, which then has the cost and the salt.
enum PasscodeSlot {
    private enum Head {
        case stretched(StretchParameters)
        case derived(passcodeID: [UInt8])

        static let stretchedBytes = 2 + StretchParameters.saltBytes
        static let derivedBytes = 1 + AuthToken.identifierBytes

        init?(_ slot: [UInt8]) {
            switch slot.first {
            case 1 where slot.count > Self.stretchedBytes:
                guard let parameters = StretchParameters(cost: slot[1], salt: Array(slot[2..<Self.stretchedBytes]))
                else { return nil }
                self = .stretched(parameters)
            case 2 where slot.count > Self.derivedBytes:
                self = .derived(passcodeID: Array(slot[1..<Self.derivedBytes]))
            default: return nil
            }
        }

        var bytes: [UInt8] {
            switch self {
            case .stretched(let parameters): [1] + parameters.bytes
            case .derived(let passcodeID): [2] + passcodeID
            }
        }
    }

    /// Seals `key` in a new slot.
    static func make(_ key: SymmetricKey, behind passcode: NewPasscodeKey, _ tree: KeyTree) throws(Failure) -> [UInt8] {
        let (head, sealing): (Head, SymmetricKey)
        switch passcode {
        case .stretched(let stretched): (head, sealing) = (.stretched(stretched.parameters), stretched.key)
        case .slotKey(let slotKey, let passcodeID):
            guard passcodeID.count == AuthToken.identifierBytes, let key = SymmetricKey(slotKey) else {
                throw Failure(.internalFailure, "The key of a passcode slot has the wrong length.")
            }
            (head, sealing) = (.derived(passcodeID: passcodeID), key)
        }
        let associatedData = associatedData(tree, head.bytes)
        let inner = try sealing.seal(key.secret, nonce: tree.nonce(), authenticating: associatedData)
        return head.bytes
            + (try tree.rootKey.seal(SecretBytes(inner), nonce: tree.nonce(), authenticating: associatedData))
    }

    /// Whether a slot should be made again, because its cost is lower than that of new slots.
    static func needsRaise(_ slot: [UInt8], to cost: UInt8) -> Bool {
        if case .stretched(let parameters)? = Head(slot) { parameters.needsRaise(to: cost) } else { false }
    }

    /// Opens a slot; nil for a wrong passcode, and for a secret of the other kind. Throws `storeUnreadable` for a slot
    /// that was changed. Blocks for the duration of scrypt if the passcode was typed.
    static func open(_ slot: [UInt8], _ passcode: PasscodeSecret, _ tree: KeyTree) throws(Failure) -> SymmetricKey? {
        guard let head = Head(slot) else { throw Failure.damagedStore("its passcode slot cannot be read") }
        let associatedData = associatedData(tree, head.bytes)
        guard let inner = try tree.rootKey.open(slot[head.bytes.count...], authenticating: associatedData) else {
            throw Failure.damagedStore("its passcode slot was changed")
        }
        let key: SymmetricKey
        switch (head, passcode) {
        case (.stretched(let parameters), .typed(let typed)): key = try StretchedPassword(typed, parameters).key
        case (.derived(let expected), .slotKey(let slotKey, let passcodeID)):
            guard passcodeID == expected, let given = SymmetricKey(slotKey) else { return nil }
            key = given
        case (.stretched, .slotKey), (.derived, .typed): return nil
        }
        guard let secret = try key.open(inner.copyBytes(), authenticating: associatedData) else { return nil }
        return try KeyTree.key(secret)
    }

    private static func associatedData(_ tree: KeyTree, _ head: [UInt8]) -> [UInt8] {
        tree.associatedData(.passcodeSlot) + head
    }
}
