// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What distinguishes a key for SSH from every other key. It is given when the key is created and cannot be added or
/// removed later: the keychain changes only label, tag and group of an enclave key.
package enum SSHKeyMark {
    /// `kSecAttrApplicationLabel` of every key for SSH, instead of the hash of its public key.
    package static let applicationLabel = Array("latchkey.ssh".utf8)

    /// The name under which keys for SSH are created and used, and so their access group, in the tiers where a program
    /// names itself. Elsewhere the group is that of the program `latchkey`.
    package static let application = "latchkey.ssh"

    package static func isOn(_ attributes: Attributes) -> Bool {
        attributes[.applicationLabel]?.compared == .data(applicationLabel)
    }

    /// The query for every key for SSH.
    package static var query: ItemQuery {
        ItemQuery(itemClass: .key, attributes: [.applicationLabel: .data(applicationLabel)])
    }
}
