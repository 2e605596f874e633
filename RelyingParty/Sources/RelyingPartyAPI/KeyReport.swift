// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import RelyingPartyCrypto
package import RelyingPartyJSON

/// A key as JSON, for commands and for the administration. What is proven and what is claimed are shown side by side.
package enum KeyReport {
    package static func json(_ key: RegisteredKey) -> JSONValue {
        .object([
            ("key", bytes(key.identifier)), ("publicKey", bytes(key.point)), ("device", .string(key.device)),
            ("form", .string(key.isRaw ? "raw" : "bound")), ("created", .integer(key.created)),
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
        ])
    }

    package static func bytes(_ bytes: [UInt8]) -> JSONValue { .string(StrictBase64.url.encode(bytes)) }
    package static func number(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }
}
