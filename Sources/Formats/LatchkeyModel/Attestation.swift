// SPDX-License-Identifier: Apache-2.0

// The requests with which a key proves that it cannot leave this device (docs/reference/device-proof.md).

/// Names of relying parties.
package enum RelyingParty {
    /// Maximum characters of a name; all of them are shown in a prompt.
    package static let nameCharacters = 100

    /// Whether a text is the name of a relying party: 1 to 100 ASCII letters, digits and `.-_:/@`, such as a domain.
    ///
    /// Other characters are refused, not replaced: two names that look alike in a prompt would be one to the person.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= nameCharacters && text.utf8.allSatisfy(isNameByte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:/@".utf8.contains(byte)
        }
    }
}

extension Request {
    /// Makes an attestation key for a relying party. The person is asked first, because the reply identifies the device.
    package struct BeginEnrolment: ClientRequest {
        package typealias Response = Reply.Enrolment
        package static var operation: Operation { .beginEnrolment }
        package var traits: RequestTraits { .asks }
        package static func response(_ reply: Reply) -> Reply.Enrolment? {
            if case .enrolment(let enrolment) = reply { enrolment } else { nil }
        }

        /// The name of the relying party, which the prompt shows; see `RelyingParty.isName`.
        package var party: String
        /// Whether a prompt may be shown; without one the request is refused.
        package var interactionAllowed: Bool
        package init(party: String, interactionAllowed: Bool = true) {
            (self.party, self.interactionAllowed) = (party, interactionAllowed)
        }
    }

    /// Answers the challenge of a relying party.
    package struct AnswerEnrolment: ClientRequest {
        package typealias Response = [UInt8]
        package static var operation: Operation { .answerEnrolment }
        package var traits: RequestTraits { .mayTakeLong }

        package var party: String
        /// The sealed attestation key of `Reply.Enrolment`.
        package var attestationKey: [UInt8]
        /// The message of the relying party.
        package var challenge: [UInt8]
        package init(party: String, attestationKey: [UInt8], challenge: [UInt8]) {
            (self.party, self.attestationKey, self.challenge) = (party, attestationKey, challenge)
        }
    }

    /// Proves to a relying party that a key cannot leave this device. Needs the proofs that a use of the key needs.
    package struct ProveKey: ClientRequest {
        package typealias Response = [UInt8]
        package static var operation: Operation { .proveKey }
        package var traits: RequestTraits { .asks }

        package var name: EnclaveKeyName
        package var party: String
        /// The sealed attestation key of `Reply.Enrolment`.
        package var attestationKey: [UInt8]
        /// The nonce of the relying party, 16 to 64 bytes.
        package var nonce: [UInt8]
        package var authentication: Authentication
        package init(
            name: EnclaveKeyName, party: String, attestationKey: [UInt8], nonce: [UInt8],
            authentication: Authentication
        ) {
            (self.name, self.party, self.attestationKey) = (name, party, attestationKey)
            (self.nonce, self.authentication) = (nonce, authentication)
        }
    }
}

extension Reply {
    /// The reply to `beginEnrolment`.
    package struct Enrolment: Equatable, Sendable {
        /// The attestation key, sealed by the daemon for the calling program and the relying party, which the program
        /// stores.
        package var attestationKey: [UInt8]
        /// The first message for the relying party. It contains the endorsement key, which identifies the device.
        package var request: [UInt8]
        package init(attestationKey: [UInt8], request: [UInt8]) {
            (self.attestationKey, self.request) = (attestationKey, request)
        }
    }
}
