// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// How commands show keys as text. What is proven and what is claimed are shown side by side.
enum AccountReport {
    /// The lines of one key for people. A name of a device or model is quoted, so that it cannot pass for a line.
    static func lines(_ key: RegisteredKey) -> [String] {
        let state = key.revoked != nil ? "revoked" : key.frozen != nil ? "frozen" : "active"
        let attested = key.attestation
        let proven = attested.device == .none ? "nothing" : attested.device.rawValue
        let model = attested.model.isEmpty ? "" : " " + JSONValue.string(attested.model).encoded
        let verification =
            attested.claimedUserVerification.isEmpty ? "" : ", user verification " + attested.claimedUserVerification
        let passkey = key.passkey.map { passkey in
            "    passkey: authenticator \(KeyReport.authenticator(passkey)), attested \(passkey.statement),"
                + " synced \(passkey.backup.name)"
        }
        return [
            StrictBase64.url.encode(key.identifier),
            "    state:   \(state), \(key.form.name), device \(JSONValue.string(key.device).encoded)",
            "    proven:  \(proven)\(model)", "    claimed: tier \(key.declaredTier.rawValue)\(verification)",
        ] + (passkey.map { [$0] } ?? [])
    }
}
