// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

// The endorsement key and its certificate, which the maker of the TPM provides.

/// An endorsement key in the memory of the TPM.
struct LoadedEndorsementKey {
    let entity: TPMEntity
    let key: EndorsementKey
    /// Whether it has a persistent handle, which is not removed after the use.
    let isPersistent: Bool
}

extension TPMClient {
    /// Where the TCG provisions endorsement keys ("TCG TPM v2.0 Provisioning Guidance", section 7.8); others of the
    /// range are used by makers.
    private static let endorsementHandles = [TPMHandle(0x8101_0001), TPMHandle(0x8101_0002)]
    /// Bytes of an NV index that every TPM returns at once.
    private static let nvStep = 512

    /// Returns the certificate of the endorsement key with that template, in DER; nil if the TPM stores none.
    mutating func endorsementCertificate(_ template: EndorsementKey.Template) throws(TPMError) -> [UInt8]? {
        let index = template.certificateIndex
        let size: Int
        do throws(TPMError) {
            let response = try send(.nvReadPublic, [TPMEntity(index)])
            size = try failing { () throws(Failure) in
                var reader = TPMReader(response.parameters)
                // TPMS_NV_PUBLIC: index, algorithm of the name, attributes, policy, size.
                var area = TPMReader(try reader.sized(limit: 256))
                _ = try area.bytes(10)
                _ = try area.sized(limit: 64)
                return Int(try area.uint16())
            }
        } catch {
            guard let kind = error.kind, kind == .handleGone || kind == .value else { throw error }
            return nil
        }
        guard size <= EnrolmentRequest.certificateBytes else { return nil }
        var contents: [UInt8] = []
        while contents.count < size {
            let offset = contents.count
            var parameters = TPMWriter()
            parameters.add(UInt16(truncatingIfNeeded: min(Self.nvStep, size - offset)))
            parameters.add(UInt16(truncatingIfNeeded: offset))
            // The index can be read with its own password, which is empty.
            let response = try send(
                .nvRead, [TPMEntity(index), TPMEntity(index)], parameters.bytes, emptyPassword: true)
            let part = try failing { () throws(Failure) in
                var reader = TPMReader(response.parameters)
                let part = try reader.sized(limit: Self.nvStep)
                try reader.checkEnd()
                guard !part.isEmpty else { throw TPMReader.malformed }
                return part
            }
            contents += part
        }
        return Self.certificate(in: contents)
    }

    /// The certificate at the start of an index, which may be larger than it; nil if there is none.
    private static func certificate(in contents: [UInt8]) -> [UInt8]? {
        // A SEQUENCE of 256 to 65535 bytes.
        guard contents.count >= 4, contents[0] == 0x30, contents[1] == 0x82 else { return nil }
        let size = 4 + Int(contents[2]) << 8 + Int(contents[3])
        return size <= contents.count ? Array(contents[..<size]) : nil
    }

    /// Loads the endorsement key with that template: the one that the maker stored, or the same made again.
    mutating func loadEndorsementKey(_ template: EndorsementKey.Template) throws(TPMError) -> LoadedEndorsementKey {
        for handle in Self.endorsementHandles {
            do throws(TPMError) {
                let (area, name) = try readEncodedPublic(handle)
                if let key = Self.endorsementKey(area, template) {
                    return LoadedEndorsementKey(entity: TPMEntity(handle, name: name), key: key, isPersistent: true)
                }
            } catch {
                guard let kind = error.kind, kind == .handleGone || kind == .value else { throw error }
            }
        }
        let publicArea = try failing { () throws(Failure) in try template.encoded() }
        let parameters = try TPMCreation.parameters(publicArea)
        let made = try send(.createPrimary, [TPMEntity(.endorsement)], parameters, emptyPassword: true)
        guard let handle = made.handle else { throw .failed(TPMReader.malformed) }
        do throws(TPMError) {
            let (area, name) = try readEncodedPublic(handle)
            guard let key = Self.endorsementKey(area, template) else { throw .failed(TPMReader.malformed) }
            return LoadedEndorsementKey(entity: TPMEntity(handle, name: name), key: key, isPersistent: false)
        } catch {
            try flush(handle)
            throw error
        }
    }

    private static func endorsementKey(_ area: [UInt8], _ template: EndorsementKey.Template) -> EndorsementKey? {
        // An area of another form is another key.
        guard let key = try? EndorsementKey(decoding: area), key.template == template else { return nil }
        return key
    }

    /// Starts a policy session whose policy is satisfied for the endorsement key: the password of its hierarchy, which
    /// is empty.
    ///
    /// The session has no salt, because it protects nothing: the response to the one command with it is a secret that
    /// the relying party makes for this enrolment only.
    mutating func startEndorsementSession() throws(TPMError) -> TPMHandle {
        let nonce = try failing { () throws(Failure) in try random.bytes(TPMSession.nonceBytes).copyBytes() }
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: nonce)
            try parameters.add(sized: [])
            parameters.add(TPMSessionType.policy.rawValue)
            // Nothing is encrypted.
            parameters.add(TPMAlgorithm.none)
            parameters.add(.sha256)
            return parameters.bytes
        }
        let none = TPMEntity(.none)
        guard let session = try send(.startAuthSession, [none, none], parameters).handle else {
            throw .failed(TPMReader.malformed)
        }
        do throws(TPMError) {
            // No nonce, no digest of a command, no reference, no expiry.
            let unlimited = [UInt8](repeating: 0, count: 10)
            _ = try send(.policySecret, [TPMEntity(.endorsement), TPMEntity(session)], unlimited, emptyPassword: true)
        } catch {
            try flush(session)
            throw error
        }
        return session
    }
}
