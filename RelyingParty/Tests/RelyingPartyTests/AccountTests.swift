// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import ServerTestSupport
import Testing

@testable import RelyingParty

struct AccountTests {
    private static func refused(_ reason: RefusalReason) -> RelyingPartyError { .refused(reason) }

    @Test(arguments: Backend.all) func theAuditLogHasPseudonymsAndNoNames(backend: Backend) throws {
        let (fixture, key) = (try Fixture(backend), try TestKey())
        try fixture.register(key, "ada lovelace")
        try fixture.register(TestKey(), "bob")
        let users = try fixture.service.storage.read(#"SELECT DISTINCT "user" FROM audit"#, []).joined()
        #expect(users.count == 2)
        #expect(!users.contains(.text("ada lovelace")) && !users.contains(.text("bob")))
        // They are random: another database has others.
        let other = try Fixture(backend)
        _ = try other.service.makeCode(for: "bob")
        #expect(try other.service.export("bob").pseudonym != fixture.service.export("bob").pseudonym)
    }

    @Test(arguments: Backend.all) func anExportHasEverythingOfTheUserAndNothingOfOthers(backend: Backend) throws {
        let (fixture, key, other) = (try Fixture(backend), try TestKey(), try TestKey())
        try fixture.register(key, device: "phone")
        try fixture.register(other, "bob", device: "laptop")
        _ = try fixture.service.signIn(fixture.proof(key, counter: 4))
        _ = try fixture.service.signIn(fixture.proof(other, "bob"))
        _ = try fixture.service.makeCode(for: "ada")
        let stored = try fixture.service.export("ada")
        #expect(stored.keys.map(\.device) == ["phone"])
        #expect(try stored.keys.map(\.publicKey) == [key.publicKey.point])
        #expect(stored.keys.first?.counter == 4)
        #expect(stored.sessions.map(\.created) == [fixture.now])
        #expect(stored.codeExpiry == fixture.now + 600)
        #expect(stored.events.map(\.event) == ["code", "register", "login", "code"])
        let nothing = try fixture.service.export("eve")
        #expect(nothing.keys.isEmpty && nothing.sessions.isEmpty && nothing.events.isEmpty && nothing.pseudonym == nil)
        #expect(nothing.codeExpiry == nil)
    }

    @Test(arguments: Backend.all) func aDeletedUserHasNoKeySessionCodeOrName(backend: Backend) throws {
        let (fixture, key, other) = (try Fixture(backend), try TestKey(), try TestKey())
        try fixture.register(key)
        try fixture.register(other, "bob")
        let (mine, theirs) = (
            try fixture.service.signIn(fixture.proof(key)).token,
            try fixture.service.signIn(fixture.proof(other, "bob")).token
        )
        let code = try fixture.service.makeCode(for: "ada")
        let pseudonym = try #require(try fixture.service.export("ada").pseudonym)
        let rows = try fixture.count("audit")
        #expect(try fixture.service.delete("ada") == 1)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(mine) }
        #expect(throws: Self.refused(.unknownKey)) { try fixture.service.signIn(fixture.proof(key)) }
        #expect(throws: Self.refused(.wrongCode)) {
            try fixture.service.register(
                key.publicKey, fixture.proof(key, "ada", .register), .code(code), device: "", isRaw: false, tier: .user)
        }
        for table in ["keys", "codes", "users", "audit"] {
            let named = try fixture.service.storage.read(#"SELECT 1 FROM \#(table) WHERE "user" = 'ada'"#, [])
            #expect(named.isEmpty, "\(table)")
        }
        // What happened is still there, and still verifiable, under the pseudonym.
        #expect(try fixture.service.verifyAudit() == (rows + 1, nil))
        let kept = try fixture.service.storage.read(#"SELECT 1 FROM audit WHERE "user" = $1"#, [.text(pseudonym)])
        #expect(kept.count == 5)
        #expect(try fixture.service.export("ada").events.isEmpty)
        #expect(try fixture.service.session(theirs).user == "bob")
        #expect(try fixture.service.delete("ada") == nil)
        // A later user of the same name has another pseudonym.
        try fixture.register(TestKey())
        #expect(try fixture.service.export("ada").pseudonym != pseudonym)
    }

    /// The drill for a lost device without a second key, `docs/use/server.md`.
    @Test(arguments: Backend.all) func drillOfALostDeviceWithoutASecondKey(backend: Backend) throws {
        let (fixture, lost, new) = (try Fixture(backend), try TestKey(), try TestKey())
        try fixture.register(lost, device: "phone")
        let token = try fixture.service.signIn(fixture.proof(lost)).token
        // The operator revokes, and makes a code that the user gets in person.
        #expect(try fixture.service.revoke(.user, of: "ada") == 1)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(token) }
        #expect(throws: Self.refused(.revokedKey)) { try fixture.service.signIn(fixture.proof(lost)) }
        try fixture.register(new, device: "new phone")
        _ = try fixture.service.signIn(fixture.proof(new))
        // The finder of the device cannot register its key again, even with a code.
        #expect(throws: Self.refused(.keyExists)) { try fixture.register(lost) }
    }

    @Test(arguments: Backend.all) func aRaisedMinimumHoldsForKeysAndSessionsThatExist(backend: Backend) throws {
        let key = try TestKey()
        let fixture = try Fixture(backend)
        try fixture.register(key, tier: .user)
        let token = try fixture.service.signIn(fixture.proof(key)).token
        let strict = try fixture.again(RelyingPartyPolicy(relyingPartyID: "example.com", minimumTier: .file))
        #expect(throws: Self.refused(.tierTooLow)) { try strict.signIn(fixture.proof(key)) }
        #expect(throws: Self.refused(.tierTooLow)) { try strict.session(token) }
        #expect(try fixture.service.session(token).user == "ada")
    }

    @Test(arguments: Backend.all) func aClockThatIsSetBackRevivesNeitherSessionsNorCodes(backend: Backend) throws {
        let (fixture, key) = (try Fixture(backend), try TestKey())
        try fixture.register(key)
        let used = try fixture.service.signIn(fixture.proof(key)).token
        let code = try fixture.service.makeCode(for: "ada")
        let attempt = { () throws in
            let key = try TestKey()
            try fixture.service.register(
                key.publicKey, fixture.proof(key, "ada", .register), .code(code), device: "", isRaw: false, tier: .user)
        }
        fixture.advance(-61)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(used) }
        #expect(throws: Self.refused(.wrongCode)) { try attempt() }
        fixture.advance(61)
        #expect(try fixture.service.session(used).user == "ada")
        // What has expired is removed each minute.
        fixture.advance(1000)
        try fixture.service.removeOld()
        fixture.advance(-1000)
        #expect(throws: Self.refused(.unknownSession)) { try fixture.service.session(used) }
        #expect(throws: Self.refused(.wrongCode)) { try attempt() }
    }
}
