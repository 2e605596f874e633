// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import TestSupport
import Testing

/// The tutorial's wrapper behaves as the tutorial describes (source-documents, 001).
@Suite struct KeychainWrapperTests {
    private let simulator: Simulator
    private let account = "RWQuickNote"
    private let service = "unlockPassword"

    init() throws { simulator = try Simulator() }

    /// The tutorial's `getStoredPassword`.
    private func storedPassword() -> String {
        let kcw = KeychainWrapper()
        if let password = try? kcw.getGenericPasswordFor(
            account: "RWQuickNote",
            service: "unlockPassword")
        {
            return password
        }

        return ""
    }

    /// The tutorial's `updateStoredPassword`, which prints the error that it catches.
    private func store(_ password: String) throws {
        try KeychainWrapper().storeGenericPasswordFor(account: account, service: service, password: password)
    }

    @Test func anEmptyKeychainHasNoStoredPassword() {
        simulator.run { #expect(storedPassword() == "") }
    }

    @Test func aPasswordIsStoredAndRead() throws {
        try simulator.run { () throws in
            try store("pässword")
            #expect(storedPassword() == "pässword")
        }
    }

    @Test func storingAgainUpdates_KC05() throws {
        try simulator.run { () throws in
            try store("first")
            try store("second")
            #expect(storedPassword() == "second")
        }
    }

    @Test func storingAnEmptyPasswordDeletesIt() throws {
        try simulator.run { () throws in
            try store("first")
            try store("")
            #expect(storedPassword() == "")
            try store("")
        }
    }

    @Test func updatingAMissingItemReturnsItemNotFound() {
        simulator.run {
            do {
                try KeychainWrapper().updateGenericPasswordFor(account: account, service: service, password: "new")
                Issue.record("the update succeeded")
            } catch let error as KeychainWrapperError {
                #expect(error.type == .itemNotFound)
                #expect(error.message == "Matching Item Not Found")
            } catch {
                Issue.record("unexpected error: \(error)")
            }
        }
    }

    @Test func aPasswordSurvivesARestart() throws {
        let folder = try TemporaryFolder()
        let first = try Simulator(store: .folder(folder.path + "/store"))
        try first.run { try store("kept") }
        let second = try Simulator(store: .folder(folder.path + "/store"))
        second.run { #expect(storedPassword() == "kept") }
    }

    @Test func aKeychainErrorHasAMessage() throws {
        try simulator.run { () throws in
            let long = String(repeating: "x", count: (1 << 20) + 1)
            do {
                try store(long)
                Issue.record("storing succeeded")
            } catch let error as KeychainWrapperError {
                #expect(error.type == .servicesError)
                #expect(error.message == SecCopyErrorMessageString(errSecDataTooLarge, nil) as String?)
            }
        }
    }
}
