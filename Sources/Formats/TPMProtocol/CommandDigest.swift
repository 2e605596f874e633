// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// Digests of commands and responses (TPM 2.0 Library, Part 1, section 18).
package enum CommandDigest {
    /// `cpHash`: the digest of a command.
    ///
    /// - Parameters:
    ///   - names: the names of all handles of the command, in order.
    ///   - parameters: the encoded parameters.
    package static func command(
        _ command: TPMCommand, names: [[UInt8]], parameters: [UInt8]
    ) throws(Failure) -> [UInt8] {
        try self.command(number: command.rawValue, names: names, parameters: parameters)
    }

    /// The same for the number of a command.
    package static func command(number: UInt32, names: [[UInt8]], parameters: [UInt8]) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(number)
        for name in names { writer.add(name) }
        writer.add(parameters)
        return try DigestAlgorithm.sha256.hash(writer.bytes)
    }

    /// `rpHash`: the digest of a successful response.
    package static func response(to command: TPMCommand, parameters: [UInt8]) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(TPMResponseCode.success.rawValue)
        writer.add(command.rawValue)
        writer.add(parameters)
        return try DigestAlgorithm.sha256.hash(writer.bytes)
    }
}

/// What an authority signs to approve one command in one session (`aHash`, Part 3, section 23.3).
package struct ApprovalText: Equatable, Sendable {
    package let nonce: [UInt8]
    /// Seconds until the approval expires, counted from the nonce; positive.
    package let expirySeconds: Int32
    package let command: [UInt8]
    package let reference: [UInt8]

    /// Creates a text. Throws `invalidParameter` for an empty nonce, with which an approval would be valid in every
    /// session, for an approval of every command, and for one that does not expire.
    package init(nonce: [UInt8], expirySeconds: Int32, command: [UInt8], reference: [UInt8]) throws(Failure) {
        guard nonce.count >= 16, expirySeconds > 0, command.count == TPMPublicArea.digestBytes else {
            throw Failure(
                .invalidParameter, "An approval is for one session and one command, and expires.",
                hint: "Install the same version of both services.")
        }
        self.nonce = nonce
        self.expirySeconds = expirySeconds
        self.command = command
        self.reference = reference
    }

    /// The signed bytes; the signature is over their SHA-256 digest.
    package var bytes: [UInt8] {
        var writer = TPMWriter()
        writer.add(nonce)
        writer.add(expirySeconds)
        writer.add(command)
        writer.add(reference)
        return writer.bytes
    }
}
