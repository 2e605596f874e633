// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Keychain {
    /// Returns the domain state hash of an enrolment set for an app: 32 opaque bytes that differ for every app, user
    /// and set (DS-02, DS-03).
    package func domainHash(_ group: String, _ domain: String, _ name: [UInt8]) throws(Failure) -> [UInt8] {
        let key = try tree.recordKey.derive(.domain, context: Array(domain.utf8))
        return try key.authenticationCode(Array(group.utf8) + [0] + name)
    }
}
