// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import ServerTestSupport
import Testing

@testable import RelyingParty

/// What registered services may ask, on both databases.
struct BackEndTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    /// A service, and the session of a key.
    private struct Opened {
        let fixture: Fixture
        let key = Result { try TestKey() }
        let token: [UInt8]
        let shop: ServiceCredential
        var service: RelyingPartyService { fixture.service }

        init(_ backend: Backend, _ rights: ServiceRights = .check) throws {
            fixture = try Fixture(backend)
            try fixture.register(key.get())
            token = try fixture.service.signIn(fixture.proof(key.get())).token
            shop = ServiceCredential(name: "shop", secret: try fixture.service.addService("shop", rights))
        }

        func introspect(isUse: Bool = false) throws -> IntrospectedSession? {
            try service.introspect(token, isUse: isUse, by: shop)
        }

        /// An approval of an act, by the key of the session.
        func approve(_ act: String) throws -> [UInt8] {
            try service.stepUp(token, context: act, fixture.proof(key.get(), "ada", .stepUp, context: act)).approval
                .code
        }
    }

    @Test(arguments: Backend.all) func aServiceLearnsWhoseSessionATokenIs(backend: Backend) throws {
        let opened = try Opened(backend)
        opened.fixture.advance(5)
        let found = try #require(try opened.introspect())
        #expect(found.session.user == "ada" && found.created == Fixture.start && found.stepped == nil)
        #expect(try found.identifier == LibCrypto.sha256(opened.token))
        _ = try opened.approve("pay")
        #expect(try opened.introspect()?.stepped == Fixture.start + 5)
        try opened.service.endSession(opened.token)
        #expect(try opened.introspect() == nil)
        for token in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 4000)] {
            #expect(try opened.service.introspect(token, isUse: true, by: opened.shop) == nil)
        }
    }

    @Test(arguments: Backend.all) func onlyTheRegisteredCredentialIsAccepted(backend: Backend) throws {
        let opened = try Opened(backend)
        for wrong in [
            ServiceCredential(name: "shop", secret: [UInt8](repeating: 0, count: 32)),
            ServiceCredential(name: "other", secret: opened.shop.secret),
            ServiceCredential(name: "sho\0p", secret: opened.shop.secret), ServiceCredential(name: "", secret: []),
        ] {
            #expect(throws: Self.refused(.unknownService)) {
                try opened.service.introspect(opened.token, isUse: false, by: wrong)
            }
        }
        // Another registration replaces the credential, and a removal ends it.
        let next = ServiceCredential(name: "shop", secret: try opened.service.addService("shop", .check))
        #expect(throws: Self.refused(.unknownService)) { try opened.introspect() }
        #expect(try opened.service.introspect(opened.token, isUse: false, by: next) != nil)
        #expect(try opened.service.services().map(\.name) == ["shop"])
        #expect(try opened.service.removeService("shop"))
        #expect(try !opened.service.removeService("shop"))
        #expect(throws: Self.refused(.unknownService)) {
            try opened.service.introspect(opened.token, isUse: false, by: next)
        }
        for name in ["", "Shop", "-shop", "a b", "é", String(repeating: "a", count: 33)] {
            #expect(throws: RelyingPartyError.malformed("service")) { try opened.service.addService(name, .check) }
        }
    }

    @Test(arguments: Backend.all) func aCheckIsAUseOnlyIfTheServiceSaysSo(backend: Backend) throws {
        let used = try Opened(backend)
        used.fixture.advance(800)
        #expect(try used.introspect(isUse: true) != nil)
        used.fixture.advance(899)
        #expect(try used.introspect(isUse: true) != nil, "each use prolongs the session")
        used.fixture.advance(900)
        #expect(try used.introspect(isUse: true) == nil, "it was not used for the idle time")
    }

    @Test(arguments: Backend.all) func aSessionThatOnlyServicesCheckDoesNotEndForLackOfUse(backend: Backend) throws {
        let opened = try Opened(backend)
        #expect(try opened.introspect() != nil)
        opened.fixture.advance(20_000)
        try opened.service.removeOld()
        #expect(try opened.introspect() != nil)
        // A use by the client itself, or one that the service counts, begins the idle time again.
        #expect(try opened.service.session(opened.token).user == "ada")
        opened.fixture.advance(900)
        try opened.service.removeOld()
        #expect(try opened.introspect() == nil)
        // Its lifetime holds in any case.
        let other = try Opened(backend)
        #expect(try other.introspect() != nil)
        other.fixture.advance(43200)
        #expect(try other.introspect() == nil)
    }

    @Test(arguments: Backend.all) func anApprovalIsRedeemedOnceForItsSessionAndAct(backend: Backend) throws {
        let opened = try Opened(backend)
        let approval = try opened.approve("pay 20 EUR to Bob")
        let other = try opened.service.signIn(opened.fixture.proof(opened.key.get())).token
        func redeem(_ approval: [UInt8], _ token: [UInt8], _ act: String) throws -> RedeemedApproval? {
            try opened.service.redeem(approval, token: token, context: act, by: opened.shop)
        }
        #expect(try redeem(approval, opened.token, "pay 200 EUR to Bob") == nil)
        for malformed in ["", "pay 20 EUR to Bob\0", String(repeating: "a", count: 513)] {
            #expect(throws: RelyingPartyError.malformed("context")) { try redeem(approval, opened.token, malformed) }
        }
        #expect(try redeem(approval, other, "pay 20 EUR to Bob") == nil)
        #expect(try redeem([UInt8](repeating: 0, count: 32), opened.token, "pay 20 EUR to Bob") == nil)
        opened.fixture.advance(59)
        let redeemed = try #require(try redeem(approval, opened.token, "pay 20 EUR to Bob"))
        #expect(redeemed.user == "ada" && redeemed.approved == Fixture.start)
        #expect(try redeem(approval, opened.token, "pay 20 EUR to Bob") == nil, "it is redeemed once")
        let late = try opened.approve("pay")
        opened.fixture.advance(60)
        #expect(try redeem(late, opened.token, "pay") == nil)
        try opened.service.removeOld()
        #expect(try opened.fixture.count("approvals") == 0)
        let ended = try opened.approve("pay")
        try opened.service.endSession(opened.token)
        #expect(try redeem(ended, opened.token, "pay") == nil, "the session has ended")
        #expect(try opened.service.export("ada").events.map(\.event).filter { $0 == "redeem" }.count == 1)
    }

    @Test(arguments: Backend.all) func anApprovalFromBeforeAFailOverOrOfAnotherTimeIsNotRedeemed(
        backend: Backend
    ) throws {
        let opened = try Opened(backend)
        func redeem(_ approval: [UInt8]) throws -> RedeemedApproval? {
            try opened.service.redeem(approval, token: opened.token, context: "pay", by: opened.shop)
        }
        let late = try opened.approve("pay")
        opened.fixture.advance(-30)
        #expect(try redeem(late) == nil, "it would be valid for longer than 60 seconds")
        opened.fixture.advance(30)
        let before = try opened.approve("pay")
        // What a node sets when another server of databases has taken over: it may have been redeemed there.
        let sql = "UPDATE marks SET value = $1 WHERE name = 'accepted'"
        _ = try opened.service.storage.read(sql, [.integer(Fixture.start + 1)])
        #expect(try redeem(before) == nil)
        opened.fixture.advance(2)
        #expect(try redeem(opened.approve("pay")) != nil)
    }

    @Test(arguments: Backend.all) func aSessionOfABrowserIsNoneToAService(backend: Backend) throws {
        let (fixture, passkey) = (try Fixture(backend, policy: Fixture.passkeys), try TestPasskey())
        try fixture.register(passkey)
        let shop = ServiceCredential(name: "shop", secret: try fixture.service.addService("shop", .check))
        let (program, browser) = (try fixture.signIn(passkey), try fixture.signIn(passkey, in: .browser))
        #expect(try fixture.service.introspect(program, isUse: false, by: shop)?.session.user == "ada")
        #expect(try fixture.service.introspect(browser, isUse: false, by: shop) == nil)
    }

    @Test(arguments: Backend.all) func revocationEndsWhatAServiceIsTold(backend: Backend) throws {
        let opened = try Opened(backend)
        let approval = try opened.approve("pay")
        #expect(try opened.service.revoke(.user, of: "ada") == 1)
        #expect(try opened.introspect() == nil)
        #expect(try opened.service.redeem(approval, token: opened.token, context: "pay", by: opened.shop) == nil)
    }

    @Test(arguments: Backend.all) func aServiceWithTheRightMakesCodesForUsersWhoAreNoAdministrators(
        backend: Backend
    ) throws {
        let opened = try Opened(backend, [.check, .enroll])
        let (service, key) = (opened.service, try TestKey())
        let code = try service.makeCode(for: "bob", by: opened.shop).code
        try service.register(
            key.publicKey, opened.fixture.proof(key, "bob", .register), .code(code), device: "", isRaw: false,
            tier: .user)
        _ = try service.addAdministrator("eve")
        let codes = try opened.fixture.count("codes")
        #expect(throws: Self.refused(.serviceRight)) { try service.makeCode(for: "eve", by: opened.shop) }
        // The codes of a credential end with it.
        _ = try service.makeCode(for: "carol", by: opened.shop)
        #expect(try opened.fixture.count("codes") == codes + 1)
        _ = try service.addService("shop", .check)
        #expect(throws: Self.refused(.unknownService)) { try service.makeCode(for: "bob", by: opened.shop) }
        let checker = ServiceCredential(name: "checker", secret: try service.addService("checker", .check))
        #expect(throws: Self.refused(.serviceRight)) { try service.makeCode(for: "bob", by: checker) }
        #expect(try opened.fixture.count("codes") == codes)
        #expect(try service.verifyAudit().firstWrong == nil)
    }
}
