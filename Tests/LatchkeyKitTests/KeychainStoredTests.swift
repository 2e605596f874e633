// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import Security
import Testing

@Suite(.simulator()) struct KeychainStoredTests {
    private struct Profile: Codable, Equatable { var name: String }

    private struct Settings {
        @KeychainStored(.password(service: "s", account: "token")) var token: String?
        @KeychainStored(.password(service: "s", account: "key")) var key: Data?
        @KeychainStored(.password(service: "s", account: "profile")) var profile: Profile?
        @KeychainStored(.password(service: "s", account: "pin"), protection: .userPresence, prompt: .asking("Pay"))
        var pin: String?
    }

    private let settings = Settings()

    @Test func aPropertyIsStoredInTheKeychain() throws {
        #expect(settings.token == nil)
        #expect(settings.$token.error == nil)
        settings.token = "abc"
        settings.key = Data([0, 1])
        settings.profile = Profile(name: "Ada")
        let again = Settings()
        #expect(again.token == "abc")
        #expect(again.key == Data([0, 1]))
        #expect(again.profile == Profile(name: "Ada"))
        #expect(try KeychainStore().data(of: .password(service: "s", account: "token")) == Data("abc".utf8))
    }

    @Test func nilDeletes() throws {
        settings.token = "abc"
        settings.token = nil
        #expect(settings.token == nil)
        #expect(try !KeychainStore().contains(.password(service: "s", account: "token")))
    }

    @Test func readingAProtectedPropertyPrompts() throws {
        settings.pin = "1111"
        try machine().touch(matching: true)
        #expect(settings.pin == "1111")
        try machine().cancel()
        #expect(settings.pin == nil)
        #expect(settings.$pin.error?.kind == .cancelled)
        #expect(throws: KeychainError.self) {
            try machine().cancel()
            _ = try settings.$pin.read()
        }
    }

    @Test func aFailedWriteSetsTheErrorAndChangesNothing() throws {
        settings.token = "old"
        try machine().failNext(.diskFull)
        settings.token = "new"
        #expect(settings.$token.error?.kind == .diskFull)
        #expect(settings.token == "old")
        #expect(settings.$token.error == nil)
    }
}
