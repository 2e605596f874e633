// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel

/// The password of an app's own that an item may ask for (Apple: `.applicationPassword`, behaviours LA-40 and AC-05).
///
/// It is never kept: stretched, it is part of the key around the row key, so without it the secret cannot be opened.
enum AppPassword {
    private static let saltBytes = 16
    /// Cost and salt, in front of the wrapped key.
    static let headerBytes = 1 + saltBytes

    static var isWrong: Failure {
        Failure(.itemAuthenticationFailed, "The application password is not the item's.")
    }

    private static var isMissing: Failure {
        Failure(
            .interactionNotAllowed, "The item asks for the app's own password, which is never prompted for.",
            hint: "Hand it over with LAContext.setCredential(_:type:) and kSecUseAuthenticationContext.")
    }

    /// A key under a new salt, and the bytes that say how it was made; nil for an item without a password.
    static func forSealing(
        _ item: Item, _ password: SecretBytes?, _ tree: KeyTree
    ) throws(Failure) -> (key: SymmetricKey, header: [UInt8])? {
        guard item.accessControl.constraints.contains(.applicationPassword) else { return nil }
        guard let password else { throw isMissing }
        let salt = try tree.random.bytes(saltBytes).copyBytes()
        let key = try KeyTree.stretch(password, salt: salt, cost: tree.scryptCost)
        return (key, [tree.scryptCost] + salt)
    }

    /// The key of a stored envelope, whose cost and salt are taken out behind its version byte.
    static func forOpening(
        _ item: Item, _ password: SecretBytes?, _ stored: inout ArraySlice<UInt8>
    ) throws(Failure) -> SymmetricKey? {
        guard item.accessControl.constraints.contains(.applicationPassword) else { return nil }
        guard let password else { throw isMissing }
        let header = Array(stored.dropFirst().prefix(1 + saltBytes))
        guard header.count == 1 + saltBytes, (1...20).contains(header[0]) else {
            throw Failure.damagedStore("the secret of a row cannot be read")
        }
        stored = stored.prefix(1) + stored.dropFirst(2 + saltBytes)
        return try KeyTree.stretch(password, salt: Array(header[1...]), cost: header[0])
    }
}
