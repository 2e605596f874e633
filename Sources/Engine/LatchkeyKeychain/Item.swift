// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeyWire

/// The decrypted content of the attributes envelope of an item.
struct Item: Equatable, Sendable {
    var attributes: Attributes
    var accessControl: AccessControl
    /// The keys that wrap the row key of its secret.
    var wrapping = RowKeyWrapping.root
    /// The stretching parameters of the application password, for `applicationPassword`.
    var stretching: StretchParameters?
    /// SHA-256 of the sealed secret; nil for an item without one. Set by `Envelopes.sealAttributes`.
    var secretHash: [UInt8]?

    /// Whether the secret is sealed under an application password.
    var asksForAppPassword: Bool { accessControl.constraints.contains(.applicationPassword) }

    /// The pairs of an item of the Secret Service; none for bytes in another form, which only this program can have written.
    var pairs: SecretPairs {
        if case .data(let bytes) = attributes[.pairs] { SecretPairs(bytes) ?? .none } else { .none }
    }

    var accessGroup: String { if case .text(let group) = attributes[.accessGroup] { group } else { "" } }

    /// Whether the secret is a private key of the enclave, which is never returned: the access control is enforced
    /// when the key is used.
    var isInToken: Bool { attributes[.tokenID] != nil }

    /// Whether reading the item requires a proof.
    var isReadProtected: Bool { accessControl.isProtected && !isInToken }

    /// Canonical CBOR: `{0: attributes, 1: access control, ?2: wrapping, ?3: [cost, salt], ?4: hash of the sealed secret}`.
    func encoded() -> SecretBytes {
        var writer = CBORWriter()
        let isGiven = [wrapping != .root, stretching != nil, secretHash != nil]
        writer.map(2 + isGiven.count { $0 })
        writer.unsigned(0)
        writer.attributes(attributes)
        writer.unsigned(1)
        writer.accessControl(accessControl)
        if wrapping != .root {
            writer.unsigned(2)
            wrapping.write(to: &writer)
        }
        if let stretching {
            writer.unsigned(3)
            writer.array(2)
            writer.unsigned(UInt64(stretching.cost))
            writer.bytes(stretching.salt)
        }
        if let secretHash {
            writer.unsigned(4)
            writer.bytes(secretHash)
        }
        return writer.finish()
    }

    /// Decodes the output of `encoded`; nil for bytes in any other form.
    static func decode(_ bytes: SecretBytes) -> Item? {
        bytes.withBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                var attributes: Attributes?
                var control: AccessControl?
                var wrapping = RowKeyWrapping.root
                var stretching: StretchParameters?
                var secretHash: [UInt8]?
                try reader.map { (reader, key) throws(WireError) in
                    switch key {
                    case 0: attributes = try reader.attributes()
                    case 1: control = try reader.accessControl()
                    case 2: wrapping = try RowKeyWrapping(from: &reader)
                    case 3: stretching = try reader.stretching()
                    case 4: secretHash = try reader.bytes(limit: SHA256.byteCount)
                    default: return false
                    }
                    return true
                }
                try reader.finish()
                guard let attributes, let control, secretHash == nil || secretHash?.count == SHA256.byteCount,
                    (stretching != nil) == control.constraints.contains(.applicationPassword),
                    wrapping.isValid(for: control)
                else { return nil }
                return Item(
                    attributes: attributes, accessControl: control, wrapping: wrapping, stretching: stretching,
                    secretHash: secretHash)
            } catch {
                return nil
            }
        }
    }

    func matches(_ query: ItemQuery, in itemClass: ItemClass) -> Bool {
        guard query.pairs == .none || pairs.contains(query.pairs) else { return false }
        if let accessibility = query.accessibility, accessibility != accessControl.accessibility { return false }
        for (code, value) in query.attributes where code != .accessGroup && code != .synchronizable {
            guard let own = attributes[code] ?? defaultValue(code, itemClass), own.counts(as: value) else {
                return false
            }
        }
        if !query.anySynchronizable {
            let wanted = query.attributes[.synchronizable] ?? .boolean(false)
            guard query.persistentReference != nil || attributes[.synchronizable] == wanted else { return false }
        }
        return true
    }

    private func defaultValue(_ code: AttributeCode, _ itemClass: ItemClass) -> AttributeValue? {
        itemClass.primaryKey.contains(code) ? ItemClass.emptyValue(code) : nil
    }
}

extension CBORReader {
    fileprivate mutating func stretching() throws(WireError) -> StretchParameters {
        try tuple(2) { (reader) throws(WireError) in
            guard let cost = UInt8(exactly: try reader.unsigned()),
                let parameters = StretchParameters(
                    cost: cost, salt: try reader.bytes(limit: StretchParameters.saltBytes))
            else { throw .invalidValue }
            return parameters
        }
    }
}
