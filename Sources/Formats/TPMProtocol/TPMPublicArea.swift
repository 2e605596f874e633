// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// A point on P-256 in a public area.
package struct TPMPoint: Equatable, Sendable {
    /// The coordinates, 32 bytes each, big-endian.
    package let x, y: [UInt8]

    /// Reads an X9.63 point (04, X, Y); nil for any other form.
    package init?(_ external: [UInt8]) {
        guard external.count == 65, external[0] == 4 else { return nil }
        x = Array(external[1..<33])
        y = Array(external[33...])
    }

    /// The point in X9.63 form.
    package var external: [UInt8] { [4] + x + y }
}

/// The public area of a P-256 key (`TPMT_PUBLIC`, Part 2, section 12.2.4). Its name is the digest of exactly these
/// bytes, so each of the forms below is fixed.
package struct TPMPublicArea: Equatable, Sendable {
    package var attributes: TPMObjectAttributes
    /// The digest of the policy; empty for none.
    package var policy: [UInt8]
    /// nil in a template, whose point the TPM chooses.
    package var point: TPMPoint?

    /// Bytes of a policy digest and of a name's digest: SHA-256.
    package static let digestBytes = 32

    package init(attributes: TPMObjectAttributes, policy: [UInt8] = [], point: TPMPoint? = nil) {
        (self.attributes, self.policy, self.point) = (attributes, policy, point)
    }

    /// The template of the storage root key, under which the others are created. It is the one that the TCG provisions
    /// for P-256, with `noDA`.
    package static let storageRoot = TPMPublicArea(
        attributes: [
            .fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .withoutLockout, .restricted, .decrypt,
        ])

    /// The template of a key of the Secure Enclave: signs and agrees, cannot be duplicated, and is used under its
    /// policy only.
    package static func enclaveKey(policy: [UInt8]) -> TPMPublicArea {
        TPMPublicArea(
            attributes: [
                .fixedTPM, .fixedParent, .sensitiveDataOrigin, .adminWithPolicy, .withoutLockout, .decrypt, .sign,
            ], policy: policy)
    }

    /// The template of an attestation key: signs only what the TPM states about itself (`restricted`), with ECDSA and
    /// SHA-256.
    package static let attestationKey = TPMPublicArea(
        attributes: [
            .fixedTPM, .fixedParent, .sensitiveDataOrigin, .userWithAuth, .withoutLockout, .restricted, .sign,
        ])

    /// The public key of the authority whose signatures policies require. The attributes are part of its name.
    package static func authority(_ point: TPMPoint) -> TPMPublicArea {
        TPMPublicArea(attributes: [.userWithAuth, .sign], point: point)
    }

    private var isStorageKey: Bool { attributes.contains([.restricted, .decrypt]) }

    /// Whether the key has a fixed scheme, which the TPM requires of a restricted key that signs.
    private var isAttestationKey: Bool { attributes.contains([.restricted, .sign]) && !isStorageKey }

    /// The encoded area. A storage key has AES-128-CFB for its children, and an attestation key the scheme ECDSA with
    /// SHA-256; no other key has a fixed scheme.
    package func encoded() throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(.ecc)
        writer.add(.sha256)
        writer.add(attributes.rawValue)
        try writer.add(sized: policy)
        if isStorageKey {
            writer.add(.aes)
            writer.add(UInt16(128))
            writer.add(.cfb)
        } else {
            writer.add(TPMAlgorithm.none)
        }
        // Scheme, curve P-256, key derivation scheme.
        if isAttestationKey {
            writer.add(.ecdsa)
            writer.add(.sha256)
        } else {
            writer.add(TPMAlgorithm.none)
        }
        writer.add(UInt16(3))
        writer.add(TPMAlgorithm.none)
        try writer.add(sized: point?.x ?? [])
        try writer.add(sized: point?.y ?? [])
        return writer.bytes
    }

    /// Decodes an area. Throws `TPMReader.malformed` for an area of any other form than `encoded` produces.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        var reader = TPMReader(bytes)
        try reader.expect(TPMAlgorithm.ecc.rawValue)
        try reader.expect(TPMAlgorithm.sha256.rawValue)
        self.init(attributes: TPMObjectAttributes(rawValue: try reader.uint32()))
        policy = try reader.sized(limit: Self.digestBytes)
        if isStorageKey {
            try reader.expect(TPMAlgorithm.aes.rawValue)
            try reader.expect(UInt16(128))
            try reader.expect(TPMAlgorithm.cfb.rawValue)
        } else {
            try reader.expect(TPMAlgorithm.none.rawValue)
        }
        if isAttestationKey {
            try reader.expect(TPMAlgorithm.ecdsa.rawValue)
            try reader.expect(TPMAlgorithm.sha256.rawValue)
        } else {
            try reader.expect(TPMAlgorithm.none.rawValue)
        }
        try reader.expect(UInt16(3))
        try reader.expect(TPMAlgorithm.none.rawValue)
        let (x, y) = (try reader.sized(limit: 32), try reader.sized(limit: 32))
        try reader.checkEnd()
        // A coordinate may be sent without its leading zeros.
        let padded = [x, y].flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
        point = x.isEmpty && y.isEmpty ? nil : TPMPoint([4] + padded)
    }

    /// Whether this is a key of that template, with any point or with none.
    package func hasForm(of template: TPMPublicArea) -> Bool {
        (attributes, policy) == (template.attributes, template.policy)
    }

    /// The name: the algorithm and the digest of the area (Part 1, section 16).
    package func name() throws(Failure) -> [UInt8] { try TPMName.of(encoded()) }
}

/// Names of entities (Part 1, section 16).
package enum TPMName {
    /// The name of an object or NV index with that public area.
    package static func of(_ publicArea: [UInt8]) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(.sha256)
        writer.add(try DigestAlgorithm.sha256.hash(publicArea))
        return writer.bytes
    }

    /// Whether these bytes have the form of the name of an object: the number of SHA-256 and a digest.
    package static func hasValidForm(_ name: [UInt8]) -> Bool {
        name.count == 2 + TPMPublicArea.digestBytes && name.starts(with: [0, UInt8(TPMAlgorithm.sha256.rawValue)])
    }

    /// The name of a hierarchy or session: its handle.
    package static func of(_ handle: TPMHandle) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(handle)
        return writer.bytes
    }
}
