// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams

/// Issues the tokens of one connection between an authority and a service.
package struct TokenMint: Sendable {
    /// The identifier of the connection, 16 random bytes.
    package let connection: [UInt8]
    private let key: SymmetricKey

    package init(_ random: any RandomSource) throws(Failure) {
        try self.init(
            connection: random.bytes(AuthToken.identifierBytes).copyBytes(), key: random.bytes(SymmetricKey.byteCount))
    }

    /// Creates a mint with the key of a connection, 32 bytes.
    package init(connection: [UInt8], key: SecretBytes) throws(Failure) {
        guard connection.count == AuthToken.identifierBytes, let key = SymmetricKey(key) else {
            throw Failure(.internalFailure, "The key of the connection for tokens has the wrong length.")
        }
        self.connection = connection
        self.key = key
    }

    package func code(of token: AuthToken) throws(Failure) -> [UInt8] {
        try key.authenticationCode(token.authenticated)
    }

    /// Issues the token for the proofs of an evaluation.
    ///
    /// - Parameters:
    ///   - isVirtual: whether a simulated sensor or other virtual hardware took part.
    ///   - now: nanoseconds of the boot-time clock.
    func issue(
        _ proof: Authorisation, for request: AuthenticationRequest, userID: UInt32, passcodeID: [UInt8],
        isVirtual: Bool, at now: Int64, bootID: [UInt8]
    ) throws(Failure) -> AuthToken {
        var token = AuthToken(
            connection: connection, challenge: request.challenge, userID: userID, passcodeID: passcodeID,
            purpose: request.purpose, binding: request.binding, methods: proof.methods,
            strength: proof.methods.isEmpty ? .none : proof.isWeak ? .weak : .strong, isVirtual: isVirtual,
            enrolment: proof.enrolment,
            bootID: bootID, issued: now, expires: now + AuthToken.lifetimeSeconds * 1_000_000_000)
        token.code = try code(of: token)
        return token
    }
}
