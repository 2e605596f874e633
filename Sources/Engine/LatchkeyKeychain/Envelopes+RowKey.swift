// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

/// The first byte of the envelope of a secret: which keys wrap its row key.
enum RowKeyForm: UInt8, Sendable {
    /// The class key, with the enrolment key and the application password that the access control requires.
    case plain = 1
    /// The same and the key pair of the passcode.
    case passcode = 2
    /// Wrapped twice; either copy opens the secret: that of `plain`, or that of `passcode`.
    case both = 3

    private static let wrappedBytes = SymmetricKey.nonceBytes + SymmetricKey.byteCount + SymmetricKey.tagBytes

    /// Bytes of the row key as `plain` wraps it.
    var plainBytes: Int { self == .passcode ? 0 : Self.wrappedBytes }
    /// Bytes of the row key as the key pair wraps it: a point, and the wrapped key.
    var passcodeBytes: Int { self == .plain ? 0 : PasscodePublicKey.byteCount + Self.wrappedBytes }
    /// Bytes before the sealed secret.
    var headBytes: Int { 1 + plainBytes + passcodeBytes }

    /// The associated data of the sealed secret. It covers the wrapped keys where there is more than one way, so that
    /// damage of the way that is not used is noticed too.
    static func joining(_ associated: [UInt8], _ head: ArraySlice<UInt8>) -> [UInt8] {
        head.first == plain.rawValue ? associated : associated + head
    }
}

/// The row key of a secret, wrapped in one way or two.
extension Envelopes {
    /// Wraps the row key of an item: the form, then the wrapped keys.
    func wrap(
        _ rowKey: SymmetricKey, _ item: Item, _ password: SymmetricKey?, authenticating associated: [UInt8]
    ) throws(Failure) -> [UInt8] {
        let form = form(of: item)
        var wrapped = [form.rawValue]
        if form != .passcode {
            let key = try wrappingKey(item, password, isBound: isPlainBound(item))
            wrapped += try key.seal(rowKey.secret, nonce: tree.nonce(), authenticating: associated)
        }
        if form != .plain {
            guard let passcodeKey = anchor.passcodeKey, passcodeKey.identifier == item.wrapping.passcode
            else { throw Self.otherPasscode }
            let (point, parts) = try passcodeKey.agree(tree.random)
            let key = try wrappingKey(item, password, isBound: item.wrapping.needsBoth, parts)
            wrapped += point
            wrapped += try key.seal(rowKey.secret, nonce: tree.nonce(), authenticating: associated)
        }
        return wrapped
    }

    /// Returns the row key of an envelope; nil if it does not authenticate. Throws if a key is not in memory.
    func rowKey(
        _ stored: [UInt8], _ form: RowKeyForm, _ item: Item, _ password: SymmetricKey?,
        authenticating associated: [UInt8]
    ) throws(Failure) -> SecretBytes? {
        // The plain copy is used where it can be opened, because a match suffices for it.
        if form == .plain || (form == .both && isCurrent(item)) {
            return try plainRowKey(stored, form, item, password, authenticating: associated)
        }
        return try passcodeRowKey(stored, form, item, password, authenticating: associated)
    }

    /// Whether the item is bound to no enrolment set or to the current one.
    func isCurrent(_ item: Item) -> Bool { !item.wrapping.isStale(in: anchor.enrolmentGeneration) }

    /// Whether the keys are in memory that the plain copy of the row key needs besides the class key.
    func canOpenPlain(_ item: Item) -> Bool { !isPlainBound(item) || (isCurrent(item) && anchor.enrolmentKey != nil) }

    func plainRowKey(
        _ stored: [UInt8], _ form: RowKeyForm, _ item: Item, _ password: SymmetricKey?,
        authenticating associated: [UInt8]
    ) throws(Failure) -> SecretBytes? {
        try wrappingKey(item, password, isBound: isPlainBound(item))
            .open(stored[1..<1 + form.plainBytes], authenticating: associated)
    }

    func passcodeRowKey(
        _ stored: [UInt8], _ form: RowKeyForm, _ item: Item, _ password: SymmetricKey?,
        authenticating associated: [UInt8]
    ) throws(Failure) -> SecretBytes? {
        guard let pair = try tree.passcodePair(for: item.accessControl.accessibility) else { throw unavailable(item) }
        guard pair.publicKey.identifier == item.wrapping.passcode else { throw Self.otherPasscode }
        let start = 1 + form.plainBytes
        let key = start + PasscodePublicKey.byteCount
        guard let parts = try pair.parts(Array(stored[start..<key])) else { return nil }
        return try wrappingKey(item, password, isBound: item.wrapping.needsBoth, parts)
            .open(stored[key..<form.headBytes], authenticating: associated)
    }

    /// Returns the form of an envelope that is complete; nil for any other bytes, and for a form that contradicts the
    /// attributes.
    func form(_ stored: [UInt8], of item: Item) -> RowKeyForm? {
        guard let form = stored.first.flatMap(RowKeyForm.init), (form == .plain) == (item.wrapping.passcode == nil),
            stored.count >= form.headBytes + SymmetricKey.nonceBytes + SymmetricKey.tagBytes
        else { return nil }
        return form
    }

    private func form(of item: Item) -> RowKeyForm {
        switch item.wrapping {
        case .root, .set, .nextPasscode: .plain
        case .passcode, .setAndPasscode: .passcode
        // The key of a replaced enrolment set is gone.
        case .setOrPasscode: isCurrent(item) ? .both : .passcode
        }
    }

    /// Whether the plain copy of the row key is wrapped under the key of an enrolment set.
    private func isPlainBound(_ item: Item) -> Bool {
        switch item.wrapping {
        case .root, .passcode, .nextPasscode: false
        case .set, .setAndPasscode, .setOrPasscode: true
        }
    }

    /// The key that wraps the row key: the class key, combined with the enrolment key, the parts of the passcode's key
    /// pair and the stretched application password where they are required.
    private func wrappingKey(
        _ item: Item, _ password: SymmetricKey?, isBound: Bool, _ passcode: [SecretBytes] = []
    ) throws(Failure) -> SymmetricKey {
        guard let key = try tree.classKey(item.accessControl.accessibility) else { throw unavailable(item) }
        guard (password != nil) == item.asksForAppPassword else {
            throw Failure(.internalFailure, "A password was not stretched.")
        }
        var parts = [key.secret]
        if isBound {
            guard let key = anchor.enrolmentKey else { throw anchor.condition.refusal ?? unavailable(item) }
            parts.append(key)
        }
        parts += passcode
        if let password { parts.append(password.secret) }
        guard parts.count > 1 else { return key }
        return try SymmetricKey.combining(parts, label: passcode.isEmpty ? .wrap : .passcodeWrap)
    }

    private func unavailable(_ item: Item) -> Failure {
        tree.isAvailable(item.accessControl.accessibility)
            ? Failure(.interactionNotAllowed, "The passcode has to be entered first.") : Failure.locked
    }

    /// Only files that were put back have another pair than their rows: removing a passcode seals these without it.
    private static var otherPasscode: Failure {
        Failure.damagedStore("the secret of a row was sealed for another passcode")
    }
}
