// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import RelyingPartyCrypto
package import RelyingPartyJSON
internal import SignInVerification

/// A key as JSON, for commands and for the administration. What is proven and what is claimed are shown side by side.
package enum KeyReport {
    package static func json(_ key: RegisteredKey) -> JSONValue {
        .object([
            ("key", bytes(key.identifier)), ("publicKey", bytes(key.publicKey)),
            ("algorithm", .string(key.algorithm.name)), ("device", .string(key.device)),
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
    package static func authenticator(_ passkey: RegisteredPasskey) -> String {
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

    package static func bytes(_ bytes: [UInt8]) -> JSONValue { .string(StrictBase64.url.encode(bytes)) }
    package static func number(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }
}
