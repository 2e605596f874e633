// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// The attestation key of this command for one relying party: a generic password of its own access group, which stays on
/// this device.
struct StoredAttestationKey {
    let party: String

    private static let service = "latchkey.attestation"

    private var attributes: Attributes { [.service: .text(Self.service), .account: .text(party)] }

    private var query: ItemQuery { ItemQuery(itemClass: .genericPassword, attributes: attributes) }

    private var deletion: String { "latchkey delete --service \(Self.service) \(party)" }

    /// Throws `duplicateItem` if there is one.
    func checkIsMissing() throws(Failure) {
        guard try Client.command.items(query).isEmpty else {
            throw Failure(
                .duplicateItem, "This device was enrolled with \(party).",
                hint: "To enroll it again, first: \(deletion)"
            )
        }
    }

    func store(_ key: [UInt8]) throws(Failure) {
        var attributes = attributes
        attributes[.label] = .text("attestation key for \(party)")
        let add = Request.AddItem(
            itemClass: .genericPassword, attributes: attributes,
            accessControl: AccessControl(accessibility: .whenUnlockedThisDeviceOnly), secret: SecretBytes(key),
            returns: [], authentication: Authentication())
        _ = try Client.command.call(add)
    }

    func delete() throws(Failure) { try Client.command.call(Request.DeleteItems(query)) }

    /// Returns the key; throws `itemNotFound` if this device was not enrolled with the relying party.
    func read() throws(Failure) -> [UInt8] {
        let copy = Request.CopyItems(query: query, limit: .one, returns: [.data], authentication: Authentication())
        do throws(Failure) {
            guard let key = try Client.command.call(copy).first?.secret
            else { throw Failure(.itemNotFound) }
            return key.copyBytes()
        } catch {
            guard error.status == .itemNotFound else { throw error }
            throw Failure(
                .itemNotFound, "This device is not enrolled with \(party).",
                hint: "Enroll it with: latchkey key enroll \(party)")
        }
    }
}
