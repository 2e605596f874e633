// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

extension Keychain {
    private static let facePermissionsRecord = "policy.faces"

    /// Keeps what the person has told apps that asked to look at faces (behaviour LA-07), sealed.
    ///
    /// Beyond the limit the last names of the alphabet are left out: their apps ask again.
    package func keep(facePermissions: [String: Bool]) throws(Failure) {
        let kept = facePermissions.sorted { $0.key < $1.key }.prefix(Limits.facePermissions)
        var writer = CBORWriter()
        writer.array(kept.count)
        for (application, isAllowed) in kept {
            writer.array(2)
            writer.text(application)
            writer.boolean(isAllowed)
        }
        let sealed = try tree.recordKey.seal(
            writer.finish(), nonce: tree.nonce(), binding: KeyTree.binding(tree.header, Self.facePermissionsRecord))
        try write { (store) throws(Failure) in try store.setRecord(Self.facePermissionsRecord, sealed) }
    }

    /// The answers as they were kept; a record that was changed throws.
    package func keptFacePermissions() throws(Failure) -> [String: Bool] {
        let record = Self.facePermissionsRecord
        guard let sealed = try store.read({ (store) throws(Failure) in try store.record(record) }) else { return [:] }
        guard let plain = try tree.recordKey.open(sealed, binding: KeyTree.binding(tree.header, record)),
            let permissions = decode(plain)
        else { throw Failure.damagedStore("its answers about faces were changed") }
        return permissions
    }

    private func decode(_ plain: SecretBytes) -> [String: Bool]? {
        plain.withBytes { bytes in
            var reader = CBORReader(bytes)
            var permissions: [String: Bool] = [:]
            do throws(WireError) {
                try reader.array(limit: Limits.facePermissions) { (reader) throws(WireError) in
                    let (application, isAllowed) = try reader.tuple(2) { (reader) throws(WireError) in
                        (try reader.text(limit: Limits.applicationBytes), try reader.boolean())
                    }
                    permissions[application] = isAllowed
                }
                return permissions
            } catch {
                return nil
            }
        }
    }
}
