// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

#if LATCHKEY_SDK  // where this module does not re-export it: CoreFoundationTypes.swift
package import Foundation
#else
import Foundation
#endif

/// Support for `DeviceAttestation`: enrolment with relying parties, and proofs for keys of the Secure Enclave. Errors are
/// those of `NSOSStatusErrorDomain`.
package enum EnclaveAttestation {
    /// Asks the person, and makes an attestation key for a relying party.
    package static func beginEnrolment(with party: String) throws -> (attestationKey: Data, request: Data) {
        try check(RelyingParty.isName(party), "This is not the name of a relying party.")
        let made = try call(Request.BeginEnrolment(party: party))
        return (Data(made.attestationKey), Data(made.request))
    }

    package static func answer(_ challenge: Data, from party: String, by attestationKey: Data) throws -> Data {
        try check(party, attestationKey)
        try check(challenge.count <= Limits.challengeBytes, "A challenge has at most \(Limits.challengeBytes) bytes.")
        let request = Request.AnswerEnrolment(
            party: party, attestationKey: Array(attestationKey), challenge: Array(challenge))
        return Data(try call(request))
    }

    package static func proof(of key: SecKey, for party: String, nonce: Data, by attestationKey: Data) throws -> Data {
        try check(party, attestationKey)
        try check(
            Limits.nonceBytes.contains(nonce.count),
            "A nonce has \(Limits.nonceBytes.lowerBound) to \(Limits.nonceBytes.upperBound) bytes.")
        guard let enclave = key.backing as? EnclaveKeyBacking else {
            throw Failure(.invalidParameter, "Only a private key of the Secure Enclave can prove where it is.").cfError
        }
        do throws(Failure) {
            let request = Request.ProveKey(
                name: enclave.name, party: party, attestationKey: Array(attestationKey), nonce: Array(nonce),
                authentication: try enclave.access.authentication())
            return Data(try enclave.access.client().call(request))
        } catch {
            throw error.cfError(of: key)
        }
    }

    private static func check(_ party: String, _ attestationKey: Data) throws {
        try check(RelyingParty.isName(party), "This is not the name of a relying party.")
        try check(attestationKey.count <= Limits.detachedKeyBytes, "The data is not an attestation key.")
    }

    /// Refuses before sending what no frame may contain, so that the error says what is wrong.
    private static func check(_ isAllowed: Bool, _ message: Phrase) throws {
        guard isAllowed else { throw Failure(.invalidParameter, message).cfError }
    }

    private static func call<Call: DaemonRequest>(_ request: Call) throws -> Call.Response {
        do throws(Failure) { return try AppIdentity.client().call(request) } catch { throw error.cfError }
    }
}
