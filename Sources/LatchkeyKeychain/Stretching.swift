// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

/// How a passcode or an app's own password is stretched: scrypt (RFC 7914) with r = 8, p = 1, this cost and this salt.
///
/// They are stored beside what the stretched key opens, and are always authenticated before anything is stretched:
/// otherwise an editor of the file, or an app that holds a detached key, could choose how long the daemon computes.
package struct StretchParameters: Hashable, Sendable {
    /// Exponents of N that are made and accepted. 2^16 takes 64 MiB and a quarter of a second.
    package static let costs: ClosedRange<UInt8> = 10...16
    static let saltBytes = 16

    package let cost: UInt8
    package let salt: [UInt8]

    /// Takes stored parameters; nil for a cost that is not accepted or a salt of another length.
    init?(cost: UInt8, salt: [UInt8]) {
        guard Self.costs.contains(cost), salt.count == Self.saltBytes else { return nil }
        (self.cost, self.salt) = (cost, salt)
    }

    /// Parameters with a new salt.
    static func fresh(cost: UInt8, _ random: any RandomSource) throws(Failure) -> StretchParameters {
        guard let parameters = StretchParameters(cost: cost, salt: try random.bytes(saltBytes).copyBytes()) else {
            throw Failure(.internalFailure, "A scrypt cost of 2^\(cost) is not accepted.")
        }
        return parameters
    }

    /// Whether what was stretched with these is to be stretched anew, since `cost` is what new keys get.
    package func needsRaise(to cost: UInt8) -> Bool { self.cost < cost }

    /// What associated data holds of them: cost, then salt.
    var bytes: [UInt8] { [cost] + salt }
}

/// A password after stretching. The keychain takes passwords only in this form, so that it cannot stretch one on the
/// thread that writes.
package struct StretchedPassword: Sendable {
    package let parameters: StretchParameters
    let key: SymmetricKey

    /// Stretches. Blocks for up to a quarter of a second and takes up to 64 MiB: belongs on a `StretchQueue`.
    ///
    /// One byte is put behind the password: scrypt's inner HMAC fills a short key up with zeros, so that passwords which
    /// differ in trailing zero bytes only would give the same key.
    package init(_ password: SecretBytes, _ parameters: StretchParameters) throws(Failure) {
        let ended = SecretBytes(count: password.count + 1) { memory in
            password.withBytes { memory.copyMemory(from: $0) }
            memory[password.count] = 1
        }
        key = try SymmetricKey.stretching(ended, salt: parameters.salt, cost: parameters.cost)
        self.parameters = parameters
    }
}
