// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The two envelopes of a row: the attributes, sealed under the metadata key, and the secret, sealed under a row key
/// of its own.
///
/// Associated data binds both to schema, tier, user, store, class, item, primary key and version. It also binds the
/// secret to the access group, the access control and the stretching parameters of an application password, so that
/// envelopes cannot be swapped between rows, users, groups or access controls.
struct Envelopes: Sendable {
    /// First byte of the attributes' envelope; that of the secret is a `RowKeyForm`.
    static let version: UInt8 = 1
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

    /// Seals the attributes of a row, after `begin` and after its secret was sealed, whose hash they contain.
    func sealAttributes(_ item: Item, _ row: StoredRow) throws(Failure) -> [UInt8] {
        try checkIsRead(row)
        var item = item
        item.secretHash = try row.secret.map { (secret) throws(Failure) in try SHA256.hash(secret) }
        let sealed = try tree.metadataKey.seal(
            item.encoded(), nonce: Array(row.attributes.dropFirst().prefix(SymmetricKey.nonceBytes)),
            authenticating: attributesAssociatedData(row))
        return [Self.version] + sealed
    }

    func openAttributes(_ row: StoredRow) throws(Failure) -> Item {
        guard row.attributes.first == Self.version,
            let plain = try tree.metadataKey.open(
                row.attributes.dropFirst(), authenticating: attributesAssociatedData(row)),
            let item = Item.decode(plain), (item.secretHash != nil) == row.hasSecret
        else { throw Failure.damagedStore("the attributes of a row fail authentication") }
        return item
    }

    // MARK: - Secret

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
        let associatedData = secretAssociatedData(row, item)
        let rowKey = try KeyTree.key(try tree.random.bytes(SymmetricKey.byteCount))
        let wrapped = try wrap(rowKey, item, password.key(for: item), authenticating: associatedData)
        return wrapped
            + (try rowKey.seal(
                secret, nonce: tree.nonce(), authenticating: RowKeyForm.joining(associatedData, wrapped[...])))
    }

    /// Throws `storeUnreadable` when the sealed secret is not the one that was sealed with the attributes.
    ///
    /// Needs no key of the secret, so damage is told from a wrong application password, and the secrets of protected items
    /// are checked without a proof.
    func checkHash(_ row: StoredRow, _ item: Item) throws(Failure) {
        try checkIsRead(row)
        guard try item.secretHash == row.secret.map({ (secret) throws(Failure) in try SHA256.hash(secret) }) else {
            throw Failure.damagedStore("the secret of a row is not the one that was stored")
        }
    }

    /// Opens the secret of a row; nil when it has none. Throws `itemAuthenticationFailed` for a wrong application
    /// password, and `storeUnreadable` for a damaged envelope.
    func openSecret(_ row: StoredRow, _ item: Item, password: AppPassword = .none) throws(Failure) -> SecretBytes? {
        try checkHash(row, item)
        guard let stored = row.secret else { return nil }
        let stretched = try password.key(for: item)
        let associatedData = secretAssociatedData(row, item)
        guard let form = form(stored, of: item) else {
            throw Failure.damagedStore("the secret of a row is not an envelope")
        }
        guard let rowSecret = try rowKey(stored, form, item, stretched, authenticating: associatedData) else {
            throw stretched == nil
                ? Failure.damagedStore("the secret of a row fails authentication") : AppPassword.isWrong
        }
        guard
            let secret = try KeyTree.key(rowSecret).open(
                stored[form.headBytes...],
                authenticating: RowKeyForm.joining(associatedData, stored[..<form.headBytes]))
        else { throw Failure.damagedStore("the secret of a row fails authentication") }
        return secret
    }

    /// Throws `storeUnreadable` when the secret envelope is damaged.
    ///
    /// Needs no proof. The hash of every envelope is checked. As far as the class key, the key of the enrolment set and the key
    /// pair of the passcode are in memory, the row key of a protected item is unwrapped too; any other envelope is opened
    /// completely. Without an application password nothing that it seals is opened.
    ///
    /// - Parameter opensProtected: whether the envelope of a protected item is opened completely too.
    func checkSecret(_ row: StoredRow, _ item: Item, opensProtected: Bool) throws(Failure) {
        try checkHash(row, item)
        guard let stored = row.secret else { return }
        guard let form = form(stored, of: item) else {
            throw Failure.damagedStore("the secret of a row is not an envelope")
        }
        guard form != .passcode || item.wrapping.passcode == anchor.passcodeKey?.identifier else {
            throw Failure.damagedStore("the secret of a row was sealed for another passcode")
        }
        let accessibility = item.accessControl.accessibility
        guard !item.asksForAppPassword, try tree.classKey(accessibility) != nil else { return }
        let associatedData = secretAssociatedData(row, item)
        var opened = false
        if form != .passcode, canOpenPlain(item) {
            opened = true
            guard try plainRowKey(stored, form, item, nil, authenticating: associatedData) != nil else {
                throw Failure.damagedStore("the key of a row fails authentication")
            }
        }
        let canOpen = !item.wrapping.needsBoth || canOpenPlain(item)
        if form != .plain, canOpen, try tree.passcodePair(for: accessibility) != nil {
            opened = true
            guard try passcodeRowKey(stored, form, item, nil, authenticating: associatedData) != nil else {
                throw Failure.damagedStore("the key of a row fails authentication")
            }
        }
        if opened, !item.accessControl.isProtected || opensProtected { _ = try openSecret(row, item) }
    }
}

extension Failure {
    /// The failure of requests that the device lock refuses (behaviours KC-14 and KC-20).
    static var locked: Failure {
        Failure(
            .interactionNotAllowed, "The keychain is locked.", hint: "Unlock it with: latchkey unlock", reason: .locked)
    }

    /// The failure of adding an item that nothing opens without a passcode, while none is set.
    package static var passcodeClassUnavailable: Failure {
        Failure(
            .passcodeClassUnavailable, "The item needs a passcode, and none is set.",
            hint: "Set one with: latchkey passcode set")
    }
}
