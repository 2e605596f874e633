// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The two envelopes of a row: the attributes, sealed under the metadata key, and the secret, sealed under a row key
/// of its own.
///
/// Associated data binds both to schema, tier, user, store, class, item, primary key and version. It also binds the
/// secret to the access group, the access control and the stretching parameters of an application password, so that
/// envelopes cannot be swapped between rows, users, groups or access controls.
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

    /// Also covers whether the row has a secret: a row whose secret was removed must not pass for an item without one.
    func attributesAssociatedData(_ row: StoredRow) -> [UInt8] {
        associatedData(.attributes, row, [[row.hasSecret ? 1 : 0]])
    }

    func secretAssociatedData(_ row: StoredRow, _ item: Item) -> [UInt8] {
        associatedData(
            .secret, row,
            [Array(item.accessGroup.utf8), item.accessControl.boundBytes, item.stretching?.bytes ?? []])
    }

    /// The random part of a row's version: the first 8 bytes of the attributes' nonce. It distinguishes two
    /// successors of the same version when one of them was written to a copy of the database.
    static func versionRandom(_ row: StoredRow) -> [UInt8] { Array(row.attributes.dropFirst().prefix(8)) }

    /// Sets the nonce of a row's attributes, and with it the random part of its version; must precede sealing.
    func begin(_ row: inout StoredRow) throws(Failure) { row.attributes = [Self.version] + (try tree.nonce()) }

    // MARK: - Attributes

    /// Seals the attributes of a row, after `begin`.
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

    /// The key that wraps the row key: the class key, combined with the enrolment key and the stretched application
    /// password where the access control requires them.
    private func wrappingKey(_ item: Item, _ password: SymmetricKey?) throws(Failure) -> SymmetricKey {
        guard let key = try tree.classKey(item.accessControl.accessibility) else { throw unavailable(item) }
        guard (password != nil) == item.asksForAppPassword else {
            throw Failure(.internalFailure, "A password was not stretched.")
        }
        var parts = [key.secret]
        if item.enrolment != nil {
            guard let key = anchor.enrolmentKey else { throw anchor.condition.refusal ?? unavailable(item) }
            parts.append(key)
        }
        if let password { parts.append(password.secret) }
        return parts.count == 1 ? key : try SymmetricKey.combining(parts, label: .wrap)
    }

    private func unavailable(_ item: Item) -> Failure {
        tree.isAvailable(item.accessControl.accessibility)
            ? Failure(.interactionNotAllowed, "The passcode has to be entered first.") : Failure.locked
    }

    /// Throws when the query left the secret column out: such a row must not be treated as one without a secret.
    private func checkIsRead(_ row: StoredRow) throws(Failure) {
        guard row.unreadSecretBytes == nil else {
            throw Failure(.internalFailure, "The secret of a row was not read.")
        }
    }

    /// Seals a secret under a new row key.
    func sealSecret(
        _ secret: SecretBytes, _ item: Item, _ row: StoredRow, password: AppPassword = .none
    ) throws(Failure) -> [UInt8] {
        let wrapping = try wrappingKey(item, password.key(for: item))
        let associatedData = secretAssociatedData(row, item)
        let rowKey = try KeyTree.key(try tree.random.bytes(SymmetricKey.byteCount))
        let wrapped = try wrapping.seal(rowKey.secret, nonce: tree.nonce(), authenticating: associatedData)
        return [Self.version] + wrapped + (try rowKey.seal(secret, nonce: tree.nonce(), authenticating: associatedData))
    }

    /// Opens the secret of a row; nil when it has none. Throws `itemAuthenticationFailed` for a wrong application
    /// password.
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

    /// Throws `storeUnreadable` when the secret envelope is damaged.
    ///
    /// Needs no proof. While the class key or the key of the enrolment set is not available, or an application password is
    /// needed, only the structure is checked. For a protected item, the row key is unwrapped too; any other envelope is opened completely.
    ///
    /// - Parameter opensProtected: whether the envelope of a protected item is opened completely too.
    func checkSecret(_ row: StoredRow, _ item: Item, opensProtected: Bool) throws(Failure) {
        try checkIsRead(row)
        guard let stored = row.secret else { return }
        guard stored.count >= 1 + Self.wrappedBytes + SymmetricKey.nonceBytes + SymmetricKey.tagBytes,
            stored[0] == Self.version
        else { throw Failure.damagedStore("the secret of a row is not an envelope") }
        guard !item.asksForAppPassword, item.enrolment == nil || anchor.enrolmentKey != nil,
            try tree.classKey(item.accessControl.accessibility) != nil
        else { return }
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
    /// The failure of requests that the device lock refuses (behaviours KC-14 and KC-20).
    static var locked: Failure {
        Failure(.interactionNotAllowed, "The keychain is locked.", hint: "Unlock it with: latchkey unlock")
    }
}
