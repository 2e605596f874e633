// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// The parameters of `TPM2_Create` and `TPM2_CreatePrimary` (TPM 2.0 Library, Part 3, sections 12.1 and 24.1).
enum TPMCreation {
    /// All parameters of an object without a password whose private part the TPM chooses.
    static func parameters(_ publicArea: [UInt8]) throws(TPMError) -> [UInt8] {
        try failing { () throws(Failure) in
            var writer = TPMWriter()
            try writer.add(sized: sensitive().copyBytes())
            writer.add(try parametersAfterSensitive(publicArea))
            return writer.bytes
        }
    }

    /// The parameters after the first one, which is secret and is encrypted separately.
    static func parametersAfterSensitive(_ publicArea: [UInt8]) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        try writer.add(sized: publicArea)
        // No outside information; no selection of PCRs for the creation data.
        try writer.add(sized: [])
        writer.add(UInt32(0))
        return writer.bytes
    }

    /// The contents of `TPM2B_SENSITIVE_CREATE`: the password of the object, and the data that is sealed in it.
    static func sensitive(password: SecretBytes? = nil, data: SecretBytes? = nil) -> SecretBytes {
        let parts = [password, data]
        return SecretBytes(count: parts.reduce(0) { $0 + 2 + ($1?.count ?? 0) }) { target in
            var position = 0
            for part in parts {
                let count = part?.count ?? 0
                target[position] = UInt8(truncatingIfNeeded: count >> 8)
                target[position + 1] = UInt8(truncatingIfNeeded: count)
                position += 2
                part?.withBytes {
                    UnsafeMutableRawBufferPointer(rebasing: target[position..<position + count])
                        .copyMemory(from: $0)
                }
                position += count
            }
        }
    }
}

extension TPMMemory {
    /// Creates a key (`TPM2_Create`).
    mutating func createKey(
        _ binding: KeyBinding, password: SecretBytes?, _ client: inout TPMClient
    ) throws(TPMError) -> ModuleKey {
        // The new key and its parent need the room that the keys of the last use have.
        forgetKeys(&client)
        let (template, parameters) = try failing { () throws(Failure) in
            let policy = try TPMBlob.policy(binding, needsPassword: password != nil)
            let template = TPMPublicArea.enclaveKey(policy: policy.bytes)
            return (template, try TPMCreation.parametersAfterSensitive(template.encoded()))
        }
        let (response, parent) = try withRoot(nil, &client) { (root, client) throws(TPMError) in
            let response = try client.inSession(.hmac, of: root) { (client, session) throws(TPMError) in
                try client.send(
                    .create, [root.entity], parameters, in: &session,
                    secret: TPMCreation.sensitive(password: password)
                ).response
            }
            return (response, root.entity.name)
        }
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let privatePart = try reader.sized(limit: 1024)
            let area = try TPMPublicArea(decoding: try reader.sized(limit: 512))
            _ = try reader.sized(limit: 512)
            let digest = try reader.sized(limit: 32)
            let ticket = try reader.bytes(6)
            let code = try reader.sized(limit: 64)
            try reader.checkEnd()
            guard let point = area.point, area.hasForm(of: template) else { throw TPMReader.malformed }
            var creation = TPMWriter()
            creation.add(ticket)
            try creation.add(sized: code)
            let blob = TPMBlob(
                parent: parent, area: area, privatePart: privatePart, binding: binding,
                needsPassword: password != nil, creationDigest: digest, creationTicket: creation.bytes)
            return ModuleKey(blob: try blob.encoded(), publicKey: point.external)
        }
    }
}
