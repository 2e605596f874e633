// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import ServerTestSupport
import Testing

@testable import RelyingParty

/// The administration on both databases: the statements are the same, and their plans and types are not.
struct AdministrationTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    /// A relying party with an administrator, who has a session of a browser.
    private struct Opened {
        let fixture: Fixture
        let service: RelyingPartyService
        let key: TestKey
        let session: AdministratorSession
        let token: [UInt8]

        init(_ backend: Backend) throws {
            (fixture, key) = (try Fixture(backend), try TestKey())
            var policy = RelyingPartyPolicy(relyingPartyID: "example.com")
            policy.permitsAdministration = true
            service = try fixture.again(policy)
            try fixture.register(key, "ada")
            _ = try service.addAdministrator("ada")
            token = try service.openBrowserSession(code: try Self.code(service, fixture, key)).token
            session = try service.administrator(token)
        }

        /// A new code of the program with the key.
        func proof() throws -> AdministratorProof { .code(try Self.code(service, fixture, key)) }

        static func code(_ service: RelyingPartyService, _ fixture: Fixture, _ key: TestKey) throws -> [UInt8] {
            let program = try service.signIn(fixture.proof(key)).token
            let proof = try fixture.proof(
                key, "ada", .stepUp, context: RelyingPartyService.administrationContext)
            return try service.makeBrowserCode(program, proof).code
        }
    }

    @Test(arguments: Backend.all)
    func listsAreReadByKeyInPages(backend: Backend) throws {
        let opened = try Opened(backend)
        for index in 0..<120 { _ = try opened.service.makeCode(for: "user\(1000 + index)") }
        var (names, after) = ([String](), "")
        while true {
            let page = try opened.service.users(prefix: "", after: after, for: opened.session).map(\.user)
            names += page
            guard page.count == 50, let last = page.last else { break }
            after = last
        }
        #expect(names == ["ada"] + (0..<120).map { "user\(1000 + $0)" })
        let found = try opened.service.users(prefix: "user111", after: "user1113", for: opened.session)
        #expect(found.map(\.user) == (4..<10).map { "user111\($0)" })
        #expect(try opened.service.users(prefix: "%", after: "", for: opened.session).isEmpty)
        let ada = try #require(opened.service.users(prefix: "ada", after: "", for: opened.session).first)
        #expect(ada.keys == 1 && ada.frozenKeys == 0 && ada.sessions == 2 && ada.isAdministrator)

        for index in 0..<60 { try opened.fixture.register(TestKey(), "many\(index % 4)", device: "d\(index)") }
        var (keys, position): ([ListedKey], (user: String, created: Int64, key: [UInt8])?) = ([], nil)
        while true {
            let page = try opened.service.keys(.all, after: position, for: opened.session)
            keys += page
            guard page.count == 50, let last = page.last else { break }
            position = (last.user, last.key.created, last.key.identifier)
        }
        #expect(keys.count == 61 && Set(keys.map(\.key.identifier)).count == 61)
        #expect(!keys.contains { $0.user.isEmpty })
        #expect(try opened.service.revoke(.user, of: "many0") == 15)
        #expect(try opened.service.keys(.revoked, after: nil, for: opened.session).count == 15)
        #expect(try opened.service.keys(.active, after: nil, for: opened.session).count == 46)
        #expect(try opened.service.keys(.frozen, after: nil, for: opened.session).isEmpty)
        let sessions = try opened.service.sessions(after: nil, for: opened.session)
        #expect(sessions.map(\.isBrowser).sorted { $0 && !$1 } == [true, false])
        let last = try #require(sessions.first)
        let rest = try opened.service.sessions(after: (last.created, last.identifier), for: opened.session)
        #expect(rest.map(\.identifier) == [sessions[1].identifier])
    }

    @Test(arguments: Backend.all)
    func anActThatCreatesARightNeedsTheKeyOfTheSessionAgain(backend: Backend) throws {
        let opened = try Opened(backend)
        let (service, other) = (opened.service, try TestKey())
        let stranger = AdministratorProof.code([UInt8](repeating: 1, count: 32))
        #expect(throws: Self.refused(.browserCode)) {
            try service.makeCode(for: "bob", by: opened.session, stranger)
        }
        // A code of another administrator's key.
        try opened.fixture.register(other, "ada")
        let foreign = try Opened.code(service, opened.fixture, other)
        #expect(throws: Self.refused(.browserCode)) {
            try service.makeCode(for: "bob", by: opened.session, .code(foreign))
        }
        #expect(try service.userOfBrowserCode(foreign) == "ada", "it is not spent")
        let proof = try opened.proof()
        _ = try service.makeCode(for: "bob", by: opened.session, proof)
        #expect(throws: Self.refused(.browserCode), "it is spent") {
            try service.makeCode(for: "bob", by: opened.session, proof)
        }
        #expect(try opened.fixture.count("codes") == 1)
    }

    @Test(arguments: Backend.all)
    func aPasskeySignsTheActThatItPermits(backend: Backend) throws {
        var policy = Fixture.passkeys
        policy.permitsAdministration = true
        let (fixture, passkey) = (try Fixture(backend, policy: policy), try TestPasskey(counter: 1))
        let service = fixture.service
        try fixture.register(passkey)
        let session = try service.administrator(fixture.signIn(passkey, in: .browser))
        func proof(_ context: String) throws -> AdministratorProof {
            let signed = try fixture.proof(passkey, "ada", .stepUp, context: context)
            return .passkey(try #require(signed.assertion))
        }
        for context in [RelyingPartyService.codeContext("eve"), RelyingPartyService.unfreezeContext([1]), "x"] {
            #expect(throws: Self.refused(.otherBinding)) {
                try service.makeCode(for: "bob", by: session, proof(context))
            }
        }
        let right = try proof(RelyingPartyService.codeContext("bob"))
        _ = try service.makeCode(for: "bob", by: session, right)
        #expect(throws: Self.refused(.replayed)) { try service.makeCode(for: "bob", by: session, right) }
        #expect(try service.verifyAudit().firstWrong == nil)
        let details = try fixture.service.storage.read("SELECT detail FROM audit", [])
        #expect(!details.contains { row in if case .text(let text) = row[0] { text.contains("bob") } else { true } })
    }

    @Test(arguments: Backend.all)
    func actsNameTheAdministratorInTheAuditLogAndTheChainStaysWhole(backend: Backend) throws {
        let opened = try Opened(backend)
        let (key, service) = (try TestKey(), opened.service)
        try opened.fixture.register(key, "bob", device: "phone")
        _ = try service.signIn(opened.fixture.proof(key, "bob", counter: 5))
        #expect(throws: Self.refused(.counterRegressed)) {
            try service.signIn(opened.fixture.proof(key, "bob", counter: 5))
        }
        let id = try key.publicKey.identifier
        #expect(try service.unfreeze(id, of: "bob", by: opened.session, opened.proof()))
        #expect(try !service.unfreeze(id, of: "bob", by: opened.session, opened.proof()))
        _ = try service.signIn(opened.fixture.proof(key, "bob", counter: 1))
        #expect(try service.endSessions(of: "bob", nil, by: opened.session) == 1)
        #expect(try service.endSessions(of: "bob", nil, by: opened.session) == 0)
        _ = try service.makeCode(for: "bob", by: opened.session, opened.proof())
        #expect(try service.revoke(.device("phone"), of: "bob", by: opened.session) == 1)
        let actor = try #require(try service.export("ada").pseudonym)
        let detail = try #require(try service.detail(of: "bob", for: opened.session))
        let acts = detail.events.filter { $0.row.actor != nil }
        #expect(acts.map(\.row.event).sorted() == ["code", "end-sessions", "revoke", "unfreeze"])
        #expect(acts.allSatisfy { $0.row.actor == "ada" && $0.row.detail.hasPrefix("administrator \(actor)") })
        #expect(acts.allSatisfy { $0.row.name == "bob" && $0.row.user == detail.pseudonym })
        #expect(try service.detail(of: "unknown-user", for: opened.session) == nil)
        let chains = try service.chains(for: opened.session)
        let verified = try service.verifyAudit()
        #expect(verified.firstWrong == nil && chains.map(\.count).reduce(0, +) == verified.count)
        let node = try #require(chains.first).node
        let rows = try service.auditRows(of: node, after: 0, for: opened.session)
        #expect(rows.map(\.number) == Array(1...verified.count))
        #expect(try service.auditRows(of: node, before: 3, for: opened.session).map(\.number) == [2, 1])
    }

    @Test(arguments: Backend.all)
    func anActOfASessionThatHasEndedOrOfAFormerAdministratorHasNoEffect(backend: Backend) throws {
        let opened = try Opened(backend)
        let key = try TestKey()
        try opened.fixture.register(key, "bob")
        // The value was obtained before: the database decides again.
        try opened.service.endSession(opened.token, of: .browser)
        #expect(throws: Self.refused(.unknownSession)) {
            try opened.service.revoke(.user, of: "bob", by: opened.session)
        }
        let code = try Opened.code(opened.service, opened.fixture, opened.key)
        let token = try opened.service.openBrowserSession(code: code).token
        let session = try opened.service.administrator(token)
        _ = try opened.service.storage.transaction { try $0.run("DELETE FROM administrators", []) }
        #expect(throws: Self.refused(.notAdministrator)) { try opened.service.revoke(.user, of: "bob", by: session) }
        #expect(throws: Self.refused(.notAdministrator)) { try opened.service.administrator(token) }
        _ = try opened.service.signIn(opened.fixture.proof(key, "bob"))
    }

    @Test(arguments: Backend.all)
    func aBrowserCodeIsValidOnceAndForAMinute(backend: Backend) throws {
        let opened = try Opened(backend)
        let code = try Opened.code(opened.service, opened.fixture, opened.key)
        #expect(try opened.service.userOfBrowserCode(code) == "ada")
        _ = try opened.service.openBrowserSession(code: code)
        #expect(throws: Self.refused(.browserCode)) { try opened.service.openBrowserSession(code: code) }
        let late = try Opened.code(opened.service, opened.fixture, opened.key)
        opened.fixture.advance(60)
        #expect(throws: Self.refused(.browserCode)) { try opened.service.openBrowserSession(code: late) }
        // A restored copy of the database brings no code back, and the deletion of the user none either.
        let restored = try Opened.code(opened.service, opened.fixture, opened.key)
        _ = try opened.service.restore()
        #expect(throws: Self.refused(.browserCode)) { try opened.service.openBrowserSession(code: restored) }
        _ = try Opened.code(opened.service, opened.fixture, opened.key)
        #expect(try opened.service.delete("ada") == 1)
        #expect(try opened.fixture.count("browser_codes") == 0 && opened.fixture.count("administrators") == 0)
    }
}
