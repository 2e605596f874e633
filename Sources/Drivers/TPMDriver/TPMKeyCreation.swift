// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

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
