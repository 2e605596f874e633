// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RelyingPartyCrypto
import SignInVerification
import Synchronization
import Testing

@testable import RelyingParty

struct PasskeyTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    private static func prepared(
        _ backend: Backend = .sqlite, counter: UInt32 = 0
    ) throws -> (fixture: Fixture, passkey: TestPasskey, handle: [UInt8]) {
        let (fixture, passkey) = (try Fixture(backend, policy: Fixture.passkeys), try TestPasskey(counter: counter))
        return (fixture, passkey, try fixture.register(passkey, device: "laptop"))
    }

    @Test(arguments: Backend.all) func aRegisteredPasskeySignsIn(backend: Backend) throws {
        let (fixture, passkey, _) = try Self.prepared(backend)
        let response = try passkey.sign(fixture.service.passkeyChallenge())
        let (token, expiry) = try fixture.service.signIn(response)
        let session = try fixture.service.session(token)
        #expect(try session.user == "ada" && session.key == passkey.identifier && session.expiry == expiry)
        #expect(session.form == .passkey && session.attestation == .none)
        #expect(try fixture.service.keys(of: "ada").map(\.device) == ["laptop"])
        #expect(try fixture.service.verifyAudit() == (3, nil))
    }

    @Test(arguments: Backend.all) func abuse43OneOfAHundredUsesOfAnAssertionAtOnceSucceeds(backend: Backend) throws {
        let (fixture, passkey, _) = try Self.prepared(backend, counter: 1)
        try fixture.giveRole(passkey)
        let response = try passkey.sign(fixture.service.passkeyChallenge())
        let outcomes = Mutex<(successes: Int, replays: Int)>((0, 0))
        DispatchQueue.concurrentPerform(iterations: 100) { _ in
            do throws(RelyingPartyError) {
                _ = try fixture.service.signInAdministrator(response)
                outcomes.withLock { $0.successes += 1 }
            } catch {
                if error == .refused(.replayed) { outcomes.withLock { $0.replays += 1 } }
            }
        }
        #expect(outcomes.withLock { $0 } == (1, 99), "a repeated request is no copy, so the key is not frozen")
        #expect(try fixture.count("sessions") == 1)
        #expect(try fixture.signIn(passkey).count == 32)
    }

    @Test(arguments: Backend.all) func oneOfManyRegistrationsWithOneChallengeSucceeds(backend: Backend) throws {
        let (fixture, passkey) = (try Fixture(backend, policy: Fixture.passkeys), try TestPasskey())
        let registration = try passkey.registration(fixture.service.passkeyChallenge(registering: "ada").challenge)
        let code = try fixture.service.makeCode(for: "ada")
        let outcomes = Mutex<(successes: Int, refusals: Int)>((0, 0))
        DispatchQueue.concurrentPerform(iterations: 20) { _ in
            do throws(RelyingPartyError) {
                try fixture.service.registerPasskey(registration, of: "ada", device: "", .code(code))
                outcomes.withLock { $0.successes += 1 }
            } catch {
                // What comes after the first one finds the code spent before it looks at the challenge.
                if error == .refused(.replayed) || error == .refused(.wrongCode) {
                    outcomes.withLock { $0.refusals += 1 }
                }
            }
        }
        #expect(outcomes.withLock { $0 } == (1, 19))
        #expect(try fixture.count("passkeys") == 1)
    }

    /// One of them changed, everything else as it should be.
    @Test func eachPartOfASignInIsDemanded() throws {
        let (fixture, passkey, _) = try Self.prepared()
        let other = try TestPasskey()
        try fixture.register(other, "bob")
        let service = fixture.service
        func attempt(_ reason: RefusalReason, _ change: (TestPasskey) -> Void) throws {
            let (flags, origin, party) = (passkey.flags, passkey.origin, passkey.party)
            defer { (passkey.flags, passkey.origin, passkey.party) = (flags, origin, party) }
            change(passkey)
            #expect(throws: Self.refused(reason)) { try fixture.signIn(passkey) }
        }
        try attempt(.otherOrigin) { $0.origin = "https://example.com.evil.org" }
        try attempt(.otherOrigin) { $0.origin = "https://login.example.com" }
        try attempt(.otherRelyingParty) { $0.party = "example.org" }
        try attempt(.userPresence) { $0.flags = TestPasskey.userVerified }
        try attempt(.userVerification) { $0.flags = TestPasskey.userPresent }
        try attempt(.backupState) { $0.flags |= TestPasskey.backedUp }
        try attempt(.backupState) { $0.flags |= TestPasskey.eligible }
        let response = try passkey.sign(service.passkeyChallenge())
        let signature = response.signature
        func refused(
            _ reason: RefusalReason, _ credential: [UInt8], _ signature: [UInt8], _ handle: [UInt8]? = nil
        ) throws {
            let changed = try response.with(credential: credential, signature: signature, userHandle: handle)
            #expect(throws: Self.refused(reason)) { try service.signIn(changed) }
        }
        try refused(.wrongSignature, other.credential, signature)
        try refused(.unknownKey, try LibCrypto.random(32), signature)
        try refused(.wrongSignature, passkey.credential, other.key.sign([1]))
        try refused(.wrongSignature, passkey.credential, [])
        try refused(.userHandle, passkey.credential, signature, service.passkeyChallenge(registering: "bob").userHandle)
        for count in [0, 15, 1024] {
            #expect(throws: VerificationError.credential) {
                try response.with(credential: [UInt8](repeating: 1, count: count), userHandle: nil)
            }
        }
        _ = try service.signIn(response)
    }

    /// WebAuthn Level 3, section 7.2, step 6: a user who was not identified before is identified by the handle.
    @Test func onlyASessionOfABrowserDemandsTheUserHandle() throws {
        let (fixture, passkey, handle) = try Self.prepared()
        passkey.handle = nil
        #expect(try fixture.signIn(passkey).count == 32)
        let response = try passkey.sign(fixture.service.passkeyChallenge())
        #expect(throws: Self.refused(.userHandle)) { try fixture.service.signInAdministrator(response) }
        passkey.handle = handle
        #expect(try fixture.signIn(passkey, in: .browser).count == 32)
    }

    /// The role is read in the transaction of the session, so that a user without it ends no session of the key.
    @Test(arguments: Backend.all) func aUserWithoutTheRoleOpensNothingAndEndsNothing(backend: Backend) throws {
        let (fixture, passkey, _) = try Self.prepared(backend)
        for _ in 0..<16 { _ = try fixture.signIn(passkey) }
        let before = try ["sessions", "audit"].map(fixture.count)
        let response = try passkey.sign(fixture.service.passkeyChallenge())
        #expect(throws: Self.refused(.notAdministrator)) { try fixture.service.signInAdministrator(response) }
        #expect(try ["sessions", "audit"].map(fixture.count) == before)
        _ = try fixture.service.addAdministrator("ada")
        let (token, _) = try fixture.service.signInAdministrator(response)
        #expect(try fixture.service.administrator(token).user == "ada")
        #expect(try fixture.count("sessions") == 16)
    }

    /// Every byte of what is sent is changed once; none of that spends the challenge.
    @Test func everyChangedByteIsRefused() throws {
        let (fixture, passkey, handle) = try Self.prepared(counter: 5)
        let right = try passkey.sign(fixture.service.passkeyChallenge())
        let parts = [
            right.credential, right.clientDataJSON, right.authenticatorData, right.signature, handle,
        ]
        for part in parts.indices {
            for index in parts[part].indices {
                var changed = parts
                changed[part][index] ^= 1
                #expect(throws: (any Error).self, "part \(part), byte \(index)") {
                    try fixture.service.signIn(
                        right.with(
                            credential: changed[0], client: changed[1], data: changed[2], signature: changed[3],
                            userHandle: changed[4]))
                }
            }
        }
        #expect(try fixture.count("sessions") == 0)
        _ = try fixture.service.signIn(right)
    }

    @Test func challengesOfOtherPurposesUsersAndHandlesAreRefused() throws {
        let (fixture, passkey, _) = try Self.prepared()
        let (service, key) = (fixture.service, try passkey.identifier)
        let registering = try service.passkeyChallenge(registering: "ada").challenge
        let login = try service.challenge(user: "ada", key: key, purpose: .login)
        for challenge in [registering, login] {
            #expect(throws: Self.refused(.otherBinding)) {
                try service.signIn(passkey.sign(challenge))
            }
        }
        let (new, code) = (try TestPasskey(), try service.makeCode(for: "bob"))
        for challenge in try [registering, service.passkeyChallenge(), login] {
            #expect(throws: Self.refused(.otherBinding)) {
                try service.registerPasskey(new.registration(challenge), of: "bob", device: "", .code(code))
            }
        }
        // The same purpose and user without the handle that came with the challenge.
        let bare = try service.challenge(user: "bob", key: ChallengePurpose.noKey, purpose: .passkeyRegister)
        #expect(throws: Self.refused(.otherBinding)) {
            try service.registerPasskey(new.registration(bare), of: "bob", device: "", .code(code))
        }
        #expect(throws: Self.refused(.challengeFormat)) {
            try service.signIn(passkey.sign([1, 2, 3]))
        }
        fixture.advance(299)
        #expect(throws: Self.refused(.wrongCode), "a person has five minutes") {
            try service.registerPasskey(new.registration(registering), of: "ada", device: "", .code(code))
        }
        fixture.advance(1)
        #expect(throws: Self.refused(.expired)) {
            try service.registerPasskey(new.registration(registering), of: "ada", device: "", .code(code))
        }
    }

    @Test func aResponseOfTheOtherOperationIsRefused() throws {
        let (fixture, passkey, _) = try Self.prepared()
        let service = fixture.service
        let challenge = try service.passkeyChallenge()
        let response = try passkey.sign(challenge, type: "create")
        #expect(throws: Self.refused(.clientDataType)) { try service.signIn(response) }
        let new = try TestPasskey()
        let (registering, _) = try service.passkeyChallenge(registering: "ada")
        let right = try new.registration(registering)
        let wrong = try new.registration(registering, type: "get")
        let code = try service.makeCode(for: "ada")
        #expect(throws: Self.refused(.clientDataType)) {
            try service.registerPasskey(wrong, of: "ada", device: "", .code(code))
        }
        // Authenticator data with a new key are no assertion, and ones without are no registration.
        let attested = try passkey.sign(challenge).with(data: passkey.data(attested: true), userHandle: nil)
        #expect(throws: RelyingPartyError.malformed("authenticatorData")) { try service.signIn(attested) }
        _ = try service.registerPasskey(right, of: "ada", device: "", .code(code))
    }

    /// WebAuthn Level 3, section 7.2, step 6: without a user handle no user is named.
    @Test func anEmptyUserHandleNamesNoUser() throws {
        let (fixture, passkey, _) = try Self.prepared()
        try fixture.giveRole(passkey)
        let service = fixture.service
        for handle in [nil, []] as [[UInt8]?] {
            let response = try passkey.sign(service.passkeyChallenge()).with(userHandle: handle)
            #expect(response.userHandle == nil)
            #expect(throws: Self.refused(.userHandle)) { try service.signInAdministrator(response) }
            _ = try service.signIn(response)
        }
    }

    @Test func aRegistrationDemandsTheUserThePageAndARight() throws {
        let (fixture, passkey, _) = try Self.prepared()
        let new = try TestPasskey()
        let code = try fixture.service.makeCode(for: "ada")
        func attempt(_ code: String, user: String = "ada") throws {
            let (challenge, _) = try fixture.service.passkeyChallenge(registering: user)
            try fixture.service.registerPasskey(new.registration(challenge), of: user, device: "", .code(code))
        }
        for (reason, change) in [
            (.otherOrigin, { $0.origin = "https://example.org" }), (.otherRelyingParty, { $0.party = "example.org" }),
            (.userPresence, { $0.flags = 4 }), (.userVerification, { $0.flags = 1 }), (.backupState, { $0.flags = 21 }),
        ] as [(RefusalReason, (TestPasskey) -> Void)] {
            change(new)
            #expect(throws: Self.refused(reason)) { try attempt(code) }
            (new.origin, new.party, new.flags) = ("https://example.com", "example.com", 5)
        }
        #expect(throws: Self.refused(.wrongCode)) { try attempt("WRONG") }
        #expect(throws: Self.refused(.wrongCode), "the code of another user") { try attempt(code, user: "bob") }
        try attempt(code)
        #expect(throws: Self.refused(.keyExists)) { try fixture.register(passkey) }
        #expect(throws: Self.refused(.keyExists), "the key of another user") { try fixture.register(passkey, "bob") }
        // A credential that another key has.
        let twin = try TestPasskey(credential: new.credential)
        #expect(throws: Self.refused(.keyExists)) { try fixture.register(twin, "bob") }
        #expect(try fixture.count("passkeys") == 2)
    }

    @Test func wrongCodesStoreNothingAndCostTheUserNothing() throws {
        let (fixture, new) = (try Fixture(policy: Fixture.passkeys), try TestPasskey())
        let code = try fixture.service.makeCode(for: "ada")
        func attempt(_ code: String) throws {
            let (challenge, _) = try fixture.service.passkeyChallenge(registering: "ada")
            try fixture.service.registerPasskey(new.registration(challenge), of: "ada", device: "", .code(code))
        }
        let before = try ["audit", "keys", "passkeys", "epochs"].map(fixture.count)
        for _ in 0..<5 { #expect(throws: Self.refused(.wrongCode)) { try attempt("WRONG") } }
        #expect(try ["audit", "keys", "passkeys", "epochs"].map(fixture.count) == before)
        try attempt(code)
    }

    @Test func passkeysAreRefusedUnlessTheOperatorPermitsThem() throws {
        let (fixture, passkey, _) = try Self.prepared()
        let (token, response) = (
            try fixture.signIn(passkey), try passkey.sign(fixture.service.passkeyChallenge())
        )
        let step = try fixture.proof(passkey, "ada", .stepUp, context: "pay")
        let off = try fixture.again(RelyingPartyPolicy(relyingPartyID: "example.com"))
        for refused: () throws -> Void in [
            { _ = try off.passkeyChallenge() }, { _ = try off.passkeyChallenge(registering: "ada") },
            { _ = try off.signIn(response) }, { _ = try off.stepUp(token, context: "pay", step) },
        ] {
            #expect(throws: Self.refused(.passkeysOff)) { try refused() }
        }
        #expect(throws: Self.refused(.tierTooLow), "its sessions too") { try off.session(token) }
        // A passkey proves nothing about where it is.
        let strict = try fixture.again(
            RelyingPartyPolicy(relyingPartyID: "example.com", minimumTier: .tpm, permitsPasskeys: true))
        let registration = try TestPasskey().registration(strict.passkeyChallenge(registering: "ada").challenge)
        let code = try fixture.service.makeCode(for: "ada")
        #expect(throws: Self.refused(.tierTooLow)) {
            try strict.registerPasskey(registration, of: "ada", device: "", .code(code))
        }
        #expect(throws: Self.refused(.tierTooLow)) { try strict.signIn(response) }
        #expect(throws: Self.refused(.tierTooLow)) { try strict.session(token) }
        #expect(try fixture.service.session(token).user == "ada")
    }

    @Test(arguments: Backend.all) func aDeletedUserHasNoPasskey(backend: Backend) throws {
        let (fixture, passkey, _) = try Self.prepared(backend)
        let other = try TestPasskey()
        try fixture.register(other, "bob")
        #expect(try fixture.service.delete("ada") == 1)
        #expect(try fixture.count("passkeys") == 1)
        #expect(throws: Self.refused(.unknownKey)) { try fixture.signIn(passkey) }
        #expect(throws: Self.refused(.keyExists), "its key is never registered again") { try fixture.register(passkey) }
        #expect(try fixture.signIn(other).count == 32)
    }

    @Test func aRevokedPasskeyAndItsSessionsEnd() throws {
        let (fixture, passkey, _) = try Self.prepared()
        let tokens = try (fixture.signIn(passkey), fixture.signIn(passkey, in: .browser))
        #expect(try fixture.service.revoke(.device("laptop"), of: "ada") == 1)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(tokens.0) }
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.browserSession(tokens.1) }
        #expect(throws: Self.refused(.revokedKey)) { try fixture.signIn(passkey) }
        #expect(throws: Self.refused(.keyExists)) { try fixture.register(passkey) }
    }

    @Test func theHandleNamesNoUserAndOutlivesTheSecret() throws {
        let (fixture, passkey, handle) = try Self.prepared()
        let service = fixture.service
        #expect(try handle.count == 32 && handle != LibCrypto.sha256(Array("ada".utf8)))
        #expect(try service.passkeyChallenge(registering: "ada").userHandle == handle)
        #expect(try service.passkeyChallenge(registering: "bob").userHandle != handle)
        // A challenge of the secret before registers with its handle, and a passkey keeps the handle that it has.
        let (new, early) = (try TestPasskey(), try service.passkeyChallenge(registering: "ada"))
        for number: UInt8 in [1, 2] {
            var (secret, before) = ([UInt8](number..<(number + 32)), [UInt8]((number - 1)..<(number + 31)))
            try service.replaceSecrets(SecretBytes(taking: &secret), previous: SecretBytes(taking: &before))
            if number == 1 {
                let code = try service.makeCode(for: "ada")
                try service.registerPasskey(new.registration(early.challenge), of: "ada", device: "", .code(code))
                new.handle = early.userHandle
            }
        }
        #expect(try service.passkeyChallenge(registering: "ada").userHandle != handle)
        for passkey in [passkey, new] {
            _ = try service.signIn(passkey.sign(service.passkeyChallenge()))
        }
    }

    @Test func aPasskeyThatLeavesItsAuthenticatorIsShown() throws {
        let (fixture, passkey) = (try Fixture(policy: Fixture.passkeys), try TestPasskey())
        passkey.flags |= TestPasskey.eligible
        try fixture.register(passkey)
        func shown() throws -> PasskeyBackup? { try fixture.service.keys(of: "ada").first?.passkey?.backup }
        #expect(try shown() == .possible)
        passkey.flags |= TestPasskey.backedUp
        _ = try fixture.signIn(passkey)
        #expect(try shown() == .done)
        passkey.flags &= ~TestPasskey.backedUp
        _ = try fixture.signIn(passkey)
        let stored = try #require(try fixture.service.export("ada").keys.first)
        #expect(stored.passkey?.backup == .possible && stored.passkey?.credential == passkey.credential)
        #expect(stored.form == .passkey && stored.passkey?.authenticator == [UInt8](0..<16))
        #expect(stored.passkey?.statement == "none")
        passkey.flags &= ~TestPasskey.eligible
        #expect(throws: Self.refused(.backupState), "that never changes") { try fixture.signIn(passkey) }
    }
}
