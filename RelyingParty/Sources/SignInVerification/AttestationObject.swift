// SPDX-License-Identifier: Apache-2.0

/// What an authenticator returns when it makes a key (WebAuthn Level 3, section 6.5.4).
package struct AttestationObject: Sendable {
    /// The most certificates in a statement; only the first one is read.
    package static let certificateLimit = 8

    package let authenticatorData: AuthenticatorData
    /// The new key.
    package let credential: AuthenticatorData.Credential
    private let signed: [UInt8]
    private let isPacked: Bool
    private let statement: CBORValue

    /// Reads an attestation object; its statement is not verified.
    package init(_ bytes: [UInt8]) throws(VerificationError) {
        // Every reason is the same refusal.
        guard let object = try? CBORReader.read(bytes), object.entryCount == 3,
            let format = object[.text("fmt")]?.text, let statement = object[.text("attStmt")],
            statement.entryCount != nil, let signed = object[.text("authData")]?.bytes
        else { throw .attestationObject }
        switch format {
        case "none": isPacked = false
        case "packed": isPacked = true
        default: throw .attestationObject
        }
        (self.statement, self.signed) = (statement, signed)
        authenticatorData = try AuthenticatorData(signed)
        guard let credential = authenticatorData.credential else { throw .authenticatorData }
        self.credential = credential
    }

    /// Verifies the statement (sections 8.2 and 8.7).
    ///
    /// - Parameter clientDataHash: the SHA-256 digest of the client data as they were received.
    package func verify(clientDataHash: [UInt8]) throws(VerificationError) -> Passkey.Statement {
        guard isPacked else {
            guard statement.entryCount == 0 else { throw .attestation }
            return .none
        }
        guard let algorithm = statement[.text("alg")]?.integer.flatMap(SignatureAlgorithm.init),
            let signature = statement[.text("sig")]?.bytes
        else { throw .attestation }
        let message = signed + clientDataHash
        guard statement.entryCount == 3 else {
            guard statement.entryCount == 2, algorithm == credential.key.algorithm,
                credential.key.isValid(signature, for: message)
            else { throw .attestation }
            return .own
        }
        guard let chain = statement[.text("x5c")]?.array, (1...Self.certificateLimit).contains(chain.count),
            chain.allSatisfy({ $0.bytes != nil }), let first = chain.first?.bytes,
            let certificate = AttestationCertificate(first, algorithm), certificate.fulfils(credential.authenticator),
            certificate.key.isValid(signature, for: message)
        else { throw .attestation }
        return .certificate
    }
}
