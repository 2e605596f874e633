// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel

/// key enroll, answer, attest: the side of the device (docs/reference/device-proof.md).
enum KeyAttestation {
    /// Asks the person, makes an attestation key for a relying party, and writes the first message for it.
    static func enroll(_ options: Options) throws(CommandFailure) {
        let stored = try StoredAttestationKey(party: party(options.arguments[0]))
        let result = try KeyResult(options, isBinary: true)
        try failing { () throws(Failure) in
            try stored.checkIsMissing()
            let made = try Client.command.call(Request.BeginEnrolment(party: stored.party))
            try stored.store(made.attestationKey)
            do throws(Failure) {
                try write(made.request, "request", stored.party, result, options)
            } catch {
                // Without its message the key is of no use. If it cannot be deleted, the next enrolment names it.
                try? stored.delete()
                throw error
            }
        }
    }

    /// Answers the challenge of a relying party.
    static func answer(_ options: Options) throws(CommandFailure) {
        let stored = try StoredAttestationKey(party: party(options.arguments[0]))
        let result = try KeyResult(options, isBinary: true)
        // As text the same bytes are up to twice as long, with a line end.
        let bytes = try Input.whole(options.inputFile, limit: 2 * Limits.challengeBytes + 16).copyBytes()
        guard let challenge = try options.key.encoding().decode(bytes), challenge.count <= Limits.challengeBytes else {
            throw .failure(
                Failure(.invalidParameter, "The challenge is too long, or not in the encoding that the options name."))
        }
        try failing { () throws(Failure) in
            let request = Request.AnswerEnrolment(
                party: stored.party, attestationKey: try stored.read(), challenge: challenge)
            try write(try Client.command.call(request), "answer", stored.party, result, options)
        }
    }

    /// Proves to a relying party that a key cannot leave this device.
    static func attest(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        guard let named = options[.party] else {
            throw .usage("key attest needs --party PARTY", "See: latchkey help key attest")
        }
        let nonce = try options.nonce()
        let stored = try StoredAttestationKey(party: party(named))
        let result = try KeyResult(options, isBinary: true)
        try failing { () throws(Failure) in
            let key = try NamedKey.find(name).enclaveReference()
            let request = Request.ProveKey(
                name: key, party: stored.party, attestationKey: try stored.read(), nonce: nonce,
                authentication: Authentication(
                    prompting: Prompting(reason: localized("prove to \(stored.party) where the key \(name) is")).clipped
                ))
            try write(try Client.command.call(request), "proof", stored.party, result, options)
        }
    }

    private static func party(_ name: String) throws(CommandFailure) -> String {
        guard RelyingParty.isName(name) else {
            throw .usage(
                "a relying party has 1 to \(RelyingParty.nameCharacters) ASCII letters, digits and .-_:/@ as its name",
                "Use its domain, such as example.com.")
        }
        return name
    }

    private static func write(
        _ message: [UInt8], _ name: String, _ party: String, _ result: KeyResult, _ options: Options
    ) throws(Failure) {
        guard options.isJSON else { return try result.write(SecretBytes(message)) }
        result.writeJSON([("party", .text(party)), (name, .text(Base64.standard.encode(message)))])
    }
}

extension Options {
    /// The bytes of `--nonce`.
    func nonce() throws(CommandFailure) -> [UInt8] {
        guard let text = self[.nonce] else {
            throw .usage("--nonce is missing", "Give the nonce of the relying party in hexadecimal digits.")
        }
        guard let nonce = Hexadecimal.decode(Array(text.utf8)[...]), Limits.nonceBytes.contains(nonce.count) else {
            throw .usage(
                "a nonce has \(Limits.nonceBytes.lowerBound) to \(Limits.nonceBytes.upperBound) bytes in hexadecimal "
                    + "digits", "Make a random one with: openssl rand -hex 32")
        }
        return nonce
    }
}
