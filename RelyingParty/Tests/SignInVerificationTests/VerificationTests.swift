// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import ServerTestSupport
import Testing

@testable import SignInVerification

/// The three functions of the library, with the vectors of the specification whose flags say that the user was verified.
struct VerificationTests {
    private static let now: Int64 = 1_800_000_000
    private static let policy = SignInPolicy(relyingPartyID: "example.org")
    private static let handle: [UInt8] = [1, 2, 3]

    private static func refusal(_ body: () throws -> Void) -> VerificationError? {
        do {
            try body()
            return nil
        } catch {
            return error as? VerificationError
        }
    }

    private static func challenge(_ name: String, _ part: String = "challenge") throws -> IssuedChallenge {
        try IssuedChallenge(bytes: Vectors.value(name, part), expiry: now + 1)
    }

    private static func registration(_ name: String) throws -> PasskeyRegistrationResponse {
        try PasskeyRegistrationResponse(
            credential: Vectors.value(name, "credential"), clientDataJSON: Vectors.value(name, "clientDataJSON"),
            attestationObject: Vectors.value(name, "attestationObject"))
    }

    private static func passkey(_ name: String = "packed.ES256", _ policy: SignInPolicy = policy) throws -> Passkey {
        try verifyPasskeyRegistration(
            registration(name), challenge: challenge(name), userHandle: handle, policy: policy, at: now)
    }

    private static func assertion(
        _ name: String = "packed.ES256", credential: [UInt8]? = nil, signature: [UInt8]? = nil,
        userHandle: [UInt8]? = handle
    ) throws -> PasskeyAssertionResponse {
        try PasskeyAssertionResponse(
            credential: credential ?? Vectors.value(name, "credential"),
            clientDataJSON: Vectors.value(name, "assertion-clientDataJSON"),
            authenticatorData: Vectors.value(name, "assertion-authenticatorData"),
            signature: signature ?? Vectors.value(name, "assertion-signature"), userHandle: userHandle)
    }

    // MARK: - Passkeys

    @Test func aRegistrationReturnsWhatIsStored() throws {
        let passkey = try Self.passkey()
        #expect(try passkey.credential == Vectors.value("packed.ES256", "credential"))
        #expect(try passkey.authenticator == Vectors.value("packed.ES256", "aaguid"))
        #expect(passkey.key.algorithm == .es256 && passkey.userHandle == Self.handle)
        #expect(passkey.statement == .certificate && passkey.counter == 0)
        #expect(passkey.canBeBackedUp && !passkey.isBackedUp)
        #expect(try Self.passkey("packed.RS256").key.algorithm == .rs256)
        #expect(try Self.passkey("packed-self.ES256").statement == .own)
    }

    @Test func aRegistrationIsForItsChallengeTimePageAndPolicy() throws {
        let (name, response) = ("packed.ES256", try Self.registration("packed.ES256"))
        func refusal(
            _ challenge: IssuedChallenge? = nil, at time: Int64 = Self.now,
            _ change: (inout SignInPolicy) -> Void = { _ in }
        ) throws -> VerificationError? {
            var policy = Self.policy
            change(&policy)
            let challenge = try challenge ?? Self.challenge(name)
            return Self.refusal {
                _ = try verifyPasskeyRegistration(
                    response, challenge: challenge, userHandle: Self.handle, policy: policy, at: time)
            }
        }
        #expect(try refusal() == nil)
        #expect(try refusal(at: Self.now + 1) == .expired)
        #expect(try refusal(Self.challenge("packed.RS256")) == .otherBinding)
        #expect(try refusal { $0.origins = ["https://example.com"] } == .origin)
        #expect(try refusal { $0.relyingPartyID = "example.com" } == .relyingParty)
        #expect(try refusal { $0.algorithms = [.rs256, .eddsa] } == .publicKey)
        let other = try PasskeyRegistrationResponse(
            credential: [UInt8](repeating: 1, count: 32), clientDataJSON: response.clientDataJSON,
            attestationObject: response.attestationObject)
        #expect(
            Self.refusal {
                _ = try verifyPasskeyRegistration(
                    other, challenge: Self.challenge(name), userHandle: Self.handle, policy: Self.policy, at: Self.now)
            } == .otherCredential)
    }

    @Test func anAssertionIsForItsChallengeTimePageAndPasskey() throws {
        let (name, passkey) = ("packed.ES256", try Self.passkey())
        func refusal(
            _ response: PasskeyAssertionResponse? = nil, _ challenge: IssuedChallenge? = nil, of other: Passkey? = nil,
            user: ExpectedUser = .unknown, at time: Int64 = Self.now, _ change: (inout SignInPolicy) -> Void = { _ in }
        ) throws -> VerificationError? {
            var policy = Self.policy
            change(&policy)
            let response = try response ?? Self.assertion()
            let challenge = try challenge ?? Self.challenge(name, "assertion-challenge")
            return Self.refusal {
                _ = try verifyPasskeyAssertion(
                    response, challenge: challenge, passkey: other ?? passkey, user: user, policy: policy,
                    at: time)
            }
        }
        #expect(try refusal() == nil)
        #expect(try refusal { $0.algorithms = [.rs256] } == nil, "a registered passkey stays usable")
        #expect(try refusal(at: Self.now + 1) == .expired)
        #expect(try refusal(nil, Self.challenge(name)) == .otherBinding)
        #expect(try refusal { $0.origins = [] } == .origin)
        #expect(try refusal { $0.relyingPartyID = "example.com" } == .relyingParty)
        #expect(try refusal(Self.assertion(signature: [])) == .signature)
        #expect(try refusal(Self.assertion(credential: [UInt8](repeating: 1, count: 32))) == .otherCredential)
        #expect(try refusal(Self.assertion(userHandle: [9])) == .userHandle)
        #expect(try refusal(user: .known(handle: [9])) == .userHandle, "a passkey of another user")
        for handle in [nil, []] as [[UInt8]?] {
            #expect(try refusal(Self.assertion(userHandle: handle)) == .userHandle)
            #expect(try refusal(Self.assertion(userHandle: handle), user: .known(handle: passkey.userHandle)) == nil)
            #expect(try refusal(Self.assertion(userHandle: handle), user: .known(handle: [9])) == .userHandle)
        }
        #expect(try refusal(of: Self.passkey("packed.RS256")) == .signature)
        let fixed = Passkey(
            credential: passkey.credential, key: passkey.key, userHandle: passkey.userHandle,
            authenticator: passkey.authenticator, statement: passkey.statement, canBeBackedUp: false, isBackedUp: false,
            counter: 0)
        #expect(try refusal(of: fixed) == .backupState)
    }

    // MARK: - JSON of pages

    @Test func theTextOfAPageIsReadWithMembersOfLaterSpecifications() throws {
        let text = { (part: String) throws in StrictBase64.url.encode(try Vectors.value("packed.ES256", part)) }
        func json(_ id: String? = nil, type: String = "public-key", response: String) throws -> [UInt8] {
            let rawID = try text("credential")
            return Array(
                #"""
                {"id":"\#(id ?? rawID)","rawId":"\#(rawID)","type":"\#(type)","clientExtensionResults":{"prf":{}},
                "later":[1.5,null],"response":{\#(response),"publicKeyAlgorithm":-7,"transports":["usb"]}}
                """#.utf8)
        }
        let made = try
            #""clientDataJSON":"\#(text("clientDataJSON"))","attestationObject":"\#(text("attestationObject"))""#
        let registration = try PasskeyRegistrationResponse(json: json(response: made))
        #expect(try registration.challenge == Vectors.value("packed.ES256", "challenge"))
        #expect(try registration.credential == Vectors.value("packed.ES256", "credential"))
        let used = try #"""
        "clientDataJSON":"\#(text("assertion-clientDataJSON"))","signature":"\#(text("assertion-signature"))",
        "authenticatorData":"\#(text("assertion-authenticatorData"))"
        """#
        for (handle, expected) in [("", nil), (#","userHandle":null"#, nil), (#","userHandle":"AQID""#, Self.handle)] {
            #expect(try PasskeyAssertionResponse(json: json(response: used + handle)).userHandle == expected)
        }
        for wrong in try [
            json("AAAA", response: made), json(type: "password", response: made), json(response: #""a":1"#), [],
            json(response: made) + [0x7d], json(response: made.replacing("attestation", with: "Attestation")),
        ] {
            #expect(Self.refusal { _ = try PasskeyRegistrationResponse(json: wrong) } == .credential)
        }
        #expect(Self.refusal { _ = try PasskeyAssertionResponse(json: json(response: made)) } == .credential)
    }

    // MARK: - Bound proofs and challenges

    private static let secret = [UInt8](0..<32)

    private static func keys(party: String = "example.org", secrets: [[UInt8]] = [secret]) throws -> ChallengeKeys {
        try ChallengeKeys(secrets: secrets, relyingPartyID: party)
    }

    @Test func aBoundProofIsForItsChallengeTimeKeyAndCounter() throws {
        let (signer, other) = (try TestKey(), try TestKey())
        let key = try VerificationKey(algorithm: .es256, bytes: signer.publicKey.point)
        let binding = ChallengeBinding(user: "ada", key: key.identifier, purpose: .stepUp, context: "pay")
        let nonce = [UInt8](repeating: 7, count: 32)
        let bytes = try Self.keys().issue(binding, at: Self.now, nonce: nonce)
        let challenge = try Self.keys().accepted(bytes, for: binding, at: Self.now)
        #expect(challenge.nonce == nonce && challenge.expiry == Self.now + 60 && challenge.bytes == bytes)
        func proof(_ binding: ChallengeBinding = binding, counter: Int64? = 3, signed: Int64? = 3) -> BoundProof {
            let message = BoundProof(binding: binding, challenge: bytes, signature: [], counter: signed)
                .message("example.org")
            return BoundProof(
                binding: binding, challenge: bytes, signature: signer.sign(message), counter: counter)
        }
        func refusal(
            _ proof: BoundProof, _ expected: IssuedChallenge = challenge, _ key: VerificationKey = key,
            party: String = "example.org", at time: Int64 = Self.now
        ) -> VerificationError? {
            Self.refusal {
                let verified = try verifyBoundProof(
                    proof, challenge: expected, key: key, policy: SignInPolicy(relyingPartyID: party), at: time)
                #expect(verified.counter == proof.counter)
            }
        }
        #expect(refusal(proof()) == nil && refusal(proof(counter: nil, signed: nil)) == nil)
        #expect(refusal(proof(), at: Self.now + 60) == .expired)
        let foreign = try IssuedChallenge(bytes: [UInt8](repeating: 1, count: 16), expiry: .max)
        #expect(refusal(proof(), foreign) == .otherBinding)
        #expect(Self.refusal { _ = try IssuedChallenge(bytes: [], expiry: .max) } == .challengeFormat)
        #expect(refusal(proof(counter: 4)) == .signature && refusal(proof(counter: nil)) == .signature)
        #expect(refusal(proof(), party: "example.com") == .signature)
        #expect(refusal(proof(counter: -1, signed: -1)) == .counter)
        #expect(refusal(proof(counter: 1 << 53, signed: 1 << 53)) == .counter)
        let stranger = try VerificationKey(algorithm: .es256, bytes: other.publicKey.point)
        #expect(refusal(proof(), challenge, stranger) == .publicKey)
        #expect(try refusal(proof(), challenge, Self.passkey("packed.RS256").key) == .publicKey)
        let changed = ChallengeBinding(user: "ada", key: key.identifier, purpose: .stepUp, context: "pay more")
        let moved = BoundProof(binding: changed, challenge: bytes, signature: proof().signature, counter: 3)
        #expect(refusal(moved) == .signature)
    }

    @Test func challengesAreAcceptedByTheirServerForTheirPurposeAndTime() throws {
        let binding = ChallengeBinding(user: "ada", key: ChallengePurpose.noKey, purpose: .passkeyRegister)
        let bytes = try Self.keys().issue(binding, at: Self.now, nonce: [UInt8](repeating: 7, count: 32))
        func refusal(
            _ keys: ChallengeKeys, _ other: ChallengeBinding = binding, at time: Int64 = Self.now
        )
            -> VerificationError?
        {
            Self.refusal { _ = try keys.accepted(bytes, for: other, at: time) }
        }
        let new = [UInt8](1..<33)
        #expect(try refusal(Self.keys()) == nil && refusal(Self.keys(secrets: [new, Self.secret])) == nil)
        #expect(try refusal(Self.keys(), at: Self.now + 299) == nil)
        #expect(try refusal(Self.keys(), at: Self.now + 300) == .expired)
        #expect(try refusal(Self.keys(secrets: [new])) == .challengeCode)
        #expect(try refusal(Self.keys(party: "example.com")) == .otherRelyingParty)
        let login = ChallengeBinding(user: "", key: ChallengePurpose.noKey, purpose: .passkeyLogin)
        #expect(try refusal(Self.keys(), login) == .otherBinding)
        for secrets in [[], [[UInt8](0..<31)]] {
            #expect(Self.refusal { _ = try Self.keys(secrets: secrets) } == .failure)
        }
        #expect(Self.refusal { _ = try Self.keys().issue(binding, at: Self.now, nonce: [1]) } == .failure)
        let long = ChallengeBinding(user: String(repeating: "a", count: 129), key: binding.key, purpose: .login)
        #expect(Self.refusal { _ = try Self.keys().issue(long, at: Self.now, nonce: binding.key) } == .binding)
    }

    // MARK: - Counters

    @Test(
        arguments: [
            (.tolerant, 5, nil, .accept), (.tolerant, 0, nil, .accept), (.tolerant, 101, 100, .accept),
            (.tolerant, 100, 100, .freeze), (.tolerant, 99, 100, .refuse), (.tolerant, 84, 100, .refuse),
            (.tolerant, 83, 100, .freeze), (.tolerant, 0, 100, .freeze), (.tolerant, .min, .max, .freeze),
            (.tolerant, 0, 0, .freeze), (.strict, 101, 100, .accept), (.strict, 100, 100, .freeze),
            (.strict, 99, 100, .freeze), (.strict, 0, nil, .accept),
        ] as [(CounterPolicy, Int64, Int64?, CounterPolicy.Decision)])
    func aRepeatAndALargeStepBackFreezeAndALateRequestIsRefused(
        _ policy: CounterPolicy, _ counter: Int64, _ stored: Int64?, _ expected: CounterPolicy.Decision
    ) {
        #expect(policy.decision(for: counter, after: stored) == expected)
    }
}
