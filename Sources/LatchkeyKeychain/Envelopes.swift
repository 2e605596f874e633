// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The two envelopes of a row: attributes under the metadata key, the secret under a key of its own.
///
/// Both are bound to schema, tier, user, store, class, item, primary key and version; the secret also to the access
/// group, the bytes of the access control and how a password of the app's own is stretched, so that nothing can be swapped between rows, users, groups or rules.
struct Envelopes: Sendable {
    /// First byte of both envelopes.
    static let version: UInt8 = 1
    private static let wrappedBytes = SymmetricKey.nonceBytes + SymmetricKey.byteCount + SymmetricKey.tagBytes
    let tree: KeyTree
    let anchor: Anchor

    private func associatedData(_ label: CryptographicLabel, _ row: StoredRow, _ more: [[UInt8]] = []) -> [UInt8] {
        var writer = CBORWriter()
        writer.array(7 + more.count)
        writer.text(label.rawValue)
        writer.bytes(tree.header.bytes)
        writer.unsigned(UInt64(row.itemClass.rawValue))
        writer.bytes(row.id)
        writer.bytes(row.primaryKey)
        writer.integer(row.version)
        writer.bytes(Self.versionRandom(row))
        for part in more { writer.bytes(part) }
        return writer.finishBytes()
    }

    /// Whether there is a secret is bound as well, so that taking it out is not taken for an item without one.
    func attributesAssociatedData(_ row: StoredRow) -> [UInt8] {
        associatedData(.attributes, row, [[row.hasSecret ? 1 : 0]])
    }

    func secretAssociatedData(_ row: StoredRow, _ item: Item) -> [UInt8] {
        associatedData(
            .secret, row,
            [Array(item.accessGroup.utf8), item.accessControl.boundBytes, item.stretching?.bytes ?? []])
    }

    /// The random part of a row's version: the first 8 bytes of the attributes' nonce. Two rows that follow the same older
    /// version, one of them in a copy of the database, differ in it.
    static func versionRandom(_ row: StoredRow) -> [UInt8] { Array(row.attributes.dropFirst().prefix(8)) }

    /// Gives a row that is about to be sealed a version of its own: the nonce of its attributes.
    func begin(_ row: inout StoredRow) throws(Failure) { row.attributes = [Self.version] + (try tree.nonce()) }

    // MARK: - Attributes

    /// Seals the attributes of a row that `begin` was called for.
    func sealAttributes(_ item: Item, _ row: StoredRow) throws(Failure) -> [UInt8] {
        let sealed = try tree.metadataKey.seal(
            item.encoded(), nonce: Array(row.attributes.dropFirst().prefix(SymmetricKey.nonceBytes)),
            authenticating: attributesAssociatedData(row))
        return [Self.version] + sealed
    }

    func openAttributes(_ row: StoredRow) throws(Failure) -> Item {
        guard row.attributes.first == Self.version,
            let plain = try tree.metadataKey.open(
                row.attributes.dropFirst(), authenticating: attributesAssociatedData(row)),
            let item = Item.decode(plain)
        else { throw Failure.damagedStore("the attributes of a row fail authentication") }
        return item
    }

    // MARK: - Secret

    /// The key a row key is wrapped under: of the class, of the enrolled set, of the app's own password.
    private func wrappingKey(_ item: Item, _ password: SymmetricKey?) throws(Failure) -> SymmetricKey {
        guard let key = try tree.classKey(item.accessControl.accessibility) else { throw unavailable(item) }
        guard (password != nil) == item.asksForAppPassword else {
            throw Failure(.internalFailure, "A password was not stretched.")
        }
        var parts = [key.secret]
        if item.enrolment != nil {
            guard let key = anchor.record?.contents.enrolmentKey else { throw unavailable(item) }
            parts.append(key)
        }
        if let password { parts.append(password.secret) }
        return parts.count == 1 ? key : try SymmetricKey.combining(parts, label: .wrap)
    }

    private func unavailable(_ item: Item) -> Failure {
        tree.isAvailable(item.accessControl.accessibility)
            ? Failure(.interactionNotAllowed, "The passcode has to be entered first.") : Failure.locked
    }

    /// A secret that was not read must not pass for none.
    private func checkIsRead(_ row: StoredRow) throws(Failure) {
        guard row.unreadSecretBytes == nil else {
            throw Failure(.internalFailure, "The secret of a row was not read.")
        }
    }

    /// Seals under a new row key; `password` is the app's own, for an item that asks for one.
    func sealSecret(
        _ secret: SecretBytes, _ item: Item, _ row: StoredRow, password: AppPassword = .none
    ) throws(Failure) -> [UInt8] {
        let wrapping = try wrappingKey(item, password.key(for: item))
        let associatedData = secretAssociatedData(row, item)
        let rowKey = try KeyTree.key(try tree.random.bytes(SymmetricKey.byteCount))
        let wrapped = try wrapping.seal(rowKey.secret, nonce: tree.nonce(), authenticating: associatedData)
        return [Self.version] + wrapped + (try rowKey.seal(secret, nonce: tree.nonce(), authenticating: associatedData))
    }

    /// Opens; throws `itemAuthenticationFailed` for a password of the app that is not the item's.
    func openSecret(
        _ row: StoredRow, _ item: Item, password: AppPassword = .none
    ) throws(Failure) -> SecretBytes? {
        try checkIsRead(row)
        guard let stored = row.secret else { return nil }
        let stretched = try password.key(for: item)
        let wrapping = try wrappingKey(item, stretched)
        let associatedData = secretAssociatedData(row, item)
        guard stored.count > 1 + Self.wrappedBytes, stored[0] == Self.version else {
            throw Failure.damagedStore("the secret of a row fails authentication")
        }
        guard let rowSecret = try wrapping.open(stored[1...Self.wrappedBytes], authenticating: associatedData) else {
            throw stretched == nil
                ? Failure.damagedStore("the secret of a row fails authentication") : AppPassword.isWrong
        }
        let sealed = stored[(1 + Self.wrappedBytes)...]
        guard let secret = try KeyTree.key(rowSecret).open(sealed, authenticating: associatedData) else {
            throw Failure.damagedStore("the secret of a row fails authentication")
        }
        return secret
    }

    /// Throws when the second envelope is damaged, and opens no more of it than it may without a proof: the structure
    /// while its key is not in memory or asks for the app's own password, the row's key of a protected item, all of any
    /// other.
    func checkSecret(_ row: StoredRow, _ item: Item, opensProtected: Bool) throws(Failure) {
        try checkIsRead(row)
        guard let stored = row.secret else { return }
        guard stored.count >= 1 + Self.wrappedBytes + SymmetricKey.nonceBytes + SymmetricKey.tagBytes,
            stored[0] == Self.version
        else { throw Failure.damagedStore("the secret of a row is no envelope") }
        guard !item.asksForAppPassword, try tree.classKey(item.accessControl.accessibility) != nil else { return }
        guard item.accessControl.isProtected, !opensProtected else {
            _ = try openSecret(row, item)
            return
        }
        let wrapped = stored[1...Self.wrappedBytes]
        guard try wrappingKey(item, nil).open(wrapped, authenticating: secretAssociatedData(row, item)) != nil else {
            throw Failure.damagedStore("the key of a row fails authentication")
        }
    }
}

extension Failure {
    /// Behaviours KC-14 and KC-20.
    static var locked: Failure {
        Failure(.interactionNotAllowed, "The keychain is locked.", hint: "Unlock it with: latchkey unlock")
    }
}
