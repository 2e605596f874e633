// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

/// Parameters of key stretching for a passcode or an application password: scrypt (RFC 7914) with r = 8, p = 1, this
/// cost and this salt.
///
/// They are stored beside the envelope that the stretched key opens, and are always authenticated before stretching:
/// otherwise an editor of the file, or an app that holds a detached key, could choose how long the daemon computes.
package struct StretchParameters: Hashable, Sendable {
    /// Base-2 logarithms of N that are used and accepted. 2^16 takes 64 MiB and a quarter of a second.
    package static let costs: ClosedRange<UInt8> = 10...16
    static let saltBytes = 16

    /// Base-2 logarithm of N.
    package let cost: UInt8
    /// 16 random bytes.
    package let salt: [UInt8]

    /// Decodes stored parameters; nil for a cost that is not accepted or a salt of another length.
    init?(cost: UInt8, salt: [UInt8]) {
        guard Self.costs.contains(cost), salt.count == Self.saltBytes else { return nil }
        (self.cost, self.salt) = (cost, salt)
    }

    /// Makes parameters with a new salt; throws `internalFailure` for a cost that is not accepted.
    static func fresh(cost: UInt8, _ random: any RandomSource) throws(Failure) -> StretchParameters {
        guard let parameters = StretchParameters(cost: cost, salt: try random.bytes(saltBytes).copyBytes()) else {
            throw Failure(.internalFailure, "A scrypt cost of 2^\(cost) is not accepted.")
        }
        return parameters
    }

    /// Whether a key with these parameters should be stretched again because `cost`, that of new keys, is higher.
    package func needsRaise(to cost: UInt8) -> Bool { self.cost < cost }

    /// The encoding for associated data: cost, then salt.
    var bytes: [UInt8] { [cost] + salt }
}

/// A stretched password. The keychain takes passwords only in this form, so that it cannot stretch one on the writer
/// thread.
package struct StretchedPassword: Sendable {
    package let parameters: StretchParameters
    let key: SymmetricKey

    /// Stretches a password. Blocks for up to a quarter of a second and takes up to 64 MiB: must run on a
    /// `StretchQueue`.
    ///
    /// A byte 01 is appended to the password: the HMAC inside scrypt pads a short key with zeros, so passwords that
    /// differ only in trailing zero bytes would otherwise give the same key.
    package init(_ password: SecretBytes, _ parameters: StretchParameters) throws(Failure) {
        let ended = SecretBytes(count: password.count + 1) { memory in
            password.withBytes { memory.copyMemory(from: $0) }
            memory[password.count] = 1
        }
        key = try SymmetricKey.stretching(ended, salt: parameters.salt, cost: parameters.cost)
        self.parameters = parameters
    }
}
