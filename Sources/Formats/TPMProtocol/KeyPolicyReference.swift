// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// The reference (`policyRef`) that the policy of a key contains, and each approval of its use. An authority computes it
/// itself, so that an approval for one access control is not valid for a key with another.
package enum KeyPolicyReference {
    /// Returns the reference, 32 bytes: SHA-256 of the label, the user, the store, the access control and the set.
    ///
    /// - Parameters:
    ///   - storeID: 16 bytes.
    ///   - enrolment: the enrolment set to which the access control binds the key; nil if it binds it to none.
    ///   - epoch: tells two times of the same set from each other; empty for a set that has never changed.
    ///   - passcode: how the key demands the passcode; nil if it relies on the authority for that. An approval for one
    ///     kind of key is not valid for the other.
    package static func make(
        userID: UInt32, storeID: [UInt8], _ rule: AccessControl, enrolment: EnrolmentSet?,
        epoch: [UInt8] = [], passcode: PasscodeDemand.Part? = nil
    ) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        let label: CryptographicLabel = passcode == nil ? .keyPolicy : .passcodeKeyPolicy
        writer.add(label.bytes)
        writer.add(passcode?.rawValue ?? 0)
        writer.add(userID)
        try writer.add(sized: storeID)
        writer.add(rule.boundBytes)
        try writer.add(sized: enrolment?.bytes ?? [])
        if !epoch.isEmpty { try writer.add(sized: epoch) }
        return try DigestAlgorithm.sha256.hash(writer.bytes)
    }
}
