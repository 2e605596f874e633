// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// How commands show keys, as JSON and as text. What is proven and what is claimed are shown side by side.
enum AccountReport {
    static func json(_ key: RegisteredKey) -> JSONValue {
        .object([
            ("key", bytes(key.identifier)), ("publicKey", bytes(key.point)), ("device", .string(key.device)),
            ("form", .string(key.form.name)), ("created", .integer(key.created)),
            ("revoked", number(key.revoked)), ("frozen", number(key.frozen)), ("counter", number(key.counter)),
            (
                "proven",
                .object([
                    ("device", .string(key.attestation.device.rawValue)), ("model", .string(key.attestation.model)),
                    ("chip", bytes(key.attestation.chip)),
                ])
            ),
            (
                "claimed",
                .object([
                    ("tier", .string(key.declaredTier.rawValue)),
                    ("userVerification", .string(key.attestation.claimedUserVerification)),
                ])
            ),
            ("passkey", key.passkey.map(json) ?? .null),
        ])
    }

    /// What is known about a passkey, all of which is claimed.
    private static func json(_ passkey: RegisteredPasskey) -> JSONValue {
        .object([
            ("credential", bytes(passkey.credential)), ("authenticator", .string(authenticator(passkey))),
            ("attested", .string(passkey.statement)), ("synced", .string(passkey.backup.name)),
        ])
    }

    /// The AAGUID in the form of lists of authenticators, which is that of a UUID.
    private static func authenticator(_ passkey: RegisteredPasskey) -> String {
        let digits = passkey.authenticator.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        var (text, rest) = ("", digits[...])
        for count in [8, 4, 4, 4] {
            text += rest.prefix(count) + "-"
            rest = rest.dropFirst(count)
        }
        return text + rest
    }

    /// The lines of one key for people. A name of a device or model is quoted, so that it cannot pass for a line.
    static func lines(_ key: RegisteredKey) -> [String] {
        let state = key.revoked != nil ? "revoked" : key.frozen != nil ? "frozen" : "active"
        let attested = key.attestation
        let proven = attested.device == .none ? "nothing" : attested.device.rawValue
        let model = attested.model.isEmpty ? "" : " " + JSONValue.string(attested.model).encoded
        let verification =
            attested.claimedUserVerification.isEmpty ? "" : ", user verification " + attested.claimedUserVerification
        let passkey = key.passkey.map { passkey in
            "    passkey: authenticator \(authenticator(passkey)), attested \(passkey.statement),"
                + " synced \(passkey.backup.name)"
        }
        return [
            StrictBase64.url.encode(key.identifier),
            "    state:   \(state), \(key.form.name), device \(JSONValue.string(key.device).encoded)",
            "    proven:  \(proven)\(model)", "    claimed: tier \(key.declaredTier.rawValue)\(verification)",
        ] + (passkey.map { [$0] } ?? [])
    }

    static func bytes(_ bytes: [UInt8]) -> JSONValue { .string(StrictBase64.url.encode(bytes)) }
    static func number(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }
}
