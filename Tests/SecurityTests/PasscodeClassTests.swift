// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import TestSupport
import Testing

/// Items of `WhenPasscodeSetThisDeviceOnly` require a passcode, which must be entered once after each restart.
@Suite struct PasscodeClassTests {
    private let item = Query.password("account", service: "service")
    private let bound: Query = [kSecAttrAccessible as String: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly]

    @Test func addingRequiresAPasscode_KC15() throws {
        let simulator = try Simulator(passcode: nil)
        simulator.run {
            #expect(add(item.secret().merging(bound) { $1 }) == errSecAuthFailed)
            #expect(exists(item) == errSecItemNotFound)
        }
        try simulator.setPasscode("1234")
        simulator.run {
            #expect(add(item.secret().merging(bound) { $1 }) == errSecSuccess)
            #expect(secret(item) == "secret")
        }
    }

    @Test func removingThePasscodeDeletesItsItems_KC15_T38() throws {
        let simulator = try Simulator()
        simulator.run {
            #expect(add(item.secret().merging(bound) { $1 }) == errSecSuccess)
            #expect(add(.password("free").secret()) == errSecSuccess)
        }
        try simulator.removePasscode("1234")
        simulator.run {
            #expect(exists(item) == errSecItemNotFound)
            // Apple's own test expects success here; docs/reference/compatibility.md explains the difference.
            #expect(delete(item) == errSecItemNotFound)
            #expect(secret(.password("free")) == "secret")
        }
    }

    @Test func changingThePasscodeKeepsItems() throws {
        let simulator = try Simulator()
        simulator.run { #expect(add(item.secret().merging(bound) { $1 }) == errSecSuccess) }
        try simulator.changePasscode(from: "1234", to: "4321")
        simulator.run { #expect(secret(item) == "secret") }
    }

    @Test func movingAnItemToThePasscodeClassRequiresAPasscode_KC15() throws {
        let simulator = try Simulator(passcode: nil)
        simulator.run {
            #expect(add(item.secret()) == errSecSuccess)
            #expect(add(.password("empty")) == errSecSuccess)
            #expect(update(item, bound) == errSecAuthFailed)
            #expect(update(.password("empty"), bound) == errSecAuthFailed)
            #expect(secret(item) == "secret")
        }
    }

    // MARK: - After a restart

    /// Calls `body` with a machine restarted on a store that has one item of the passcode class and one of another
    /// class.
    private func restarted(_ body: (Simulator) throws -> Void) throws {
        let folder = try TemporaryFolder()
        do {
            let simulator = try Simulator(store: .folder(folder.path + "/store"))
            simulator.run {
                #expect(add(item.secret().merging(bound) { $1 }) == errSecSuccess)
                #expect(add(.password("free").secret("free")) == errSecSuccess)
            }
        }
        try body(try Simulator(store: .folder(folder.path + "/store")))
    }

    @Test func readingAfterARestartPromptsForThePasscodeOnce() throws {
        try restarted { simulator in
            simulator.enter(passcode: "1234")
            simulator.run {
                #expect(secret(.password("free")) == "free")
                #expect(secret(item) == "secret")
                #expect(secret(item) == "secret")
            }
        }
    }

    @Test func fingerprintDoesNotUnlockThePasscodeClass() throws {
        try restarted { simulator in
            simulator.run {
                #expect(
                    find(item.data.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)).status
                        == errSecInteractionNotAllowed)
                simulator.cancel()
                #expect(find(item.data).status == errSecUserCanceled)
            }
        }
    }

    @Test func attributesAreReadWithoutThePasscode() throws {
        try restarted { simulator in
            simulator.run {
                let found = find(item.attributes).result as? Query
                #expect(found?[kSecAttrAccount as String] as? String == "account")
                #expect(exists(item) == errSecSuccess)
            }
        }
    }

    @Test func addingAfterARestartPromptsForThePasscodeOnce() throws {
        try restarted { simulator in
            simulator.run {
                let new = Query.password("new").secret("new").merging(bound) { $1 }
                let quiet = new.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
                #expect(add(quiet) == errSecInteractionNotAllowed)
                simulator.enter(passcode: "1234")
                #expect(add(new) == errSecSuccess)
                #expect(secret(.password("new")) == "new")
            }
        }
    }

    @Test func movingAnItemToThePasscodeClassPromptsForThePasscode() throws {
        try restarted { simulator in
            simulator.run {
                let free = Query.password("free")
                let quiet = free.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
                #expect(update(quiet, bound) == errSecInteractionNotAllowed)
                simulator.enter(passcode: "1234")
                #expect(update(free, bound) == errSecSuccess)
                #expect(secret(free) == "free")
            }
        }
    }

    @Test func deletingFromThePasscodeClassDoesNotPrompt() throws {
        try restarted { simulator in simulator.run { #expect(delete(item) == errSecSuccess) } }
    }
}
