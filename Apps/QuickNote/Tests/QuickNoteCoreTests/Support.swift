// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Synchronization
import Testing

@testable import QuickNoteCore

/// A clock that only the test advances.
final class TestClock: IdleClock {
    private let seconds = Mutex(0)
    var elapsed: Duration { .seconds(seconds.withLock { $0 }) }
    var date: Date { Date(timeIntervalSince1970: 1_000_000 + Double(seconds.withLock { $0 })) }
    func advance(_ more: Int) { seconds.withLock { $0 += more } }
}

/// The simulated machine of the running test.
func machine() throws -> Simulator { try #require(Simulator.current) }

@MainActor
struct App {
    let clock = TestClock()
    let model: QuickNoteModel

    /// Starts the app on this machine; a second one is a restart or another window.
    init(_ change: (inout QuickNoteSetup) -> Void = { _ in }) async {
        var setup = QuickNoteSetup(clock: clock)
        change(&setup)
        model = QuickNoteModel(setup: setup)
        await model.start()
    }

    /// Starts the app, sets a password and writes these notes; leaves it unlocked.
    static func opened(_ texts: String...) async -> App {
        let app = await App()
        await app.model.setPassword("pw", again: "pw")
        for text in texts { await app.write(text) }
        await app.model.select(nil)
        return app
    }

    /// Writes and saves a note.
    func write(_ text: String) async {
        clock.advance(10)
        await model.newNote()
        model.edit(text)
        await model.save()
    }

    /// Unlocks with the password.
    func enter(_ password: String = "pw") async {
        model.askForPassword()
        await model.submitPassword(password)
    }

    var titles: [String] { model.notes.map(\.title) }

    /// Selects the first note.
    func selectFirst() async { await model.select(model.notes.first?.id) }
}

/// Every secret in the keychain that can be read without a prompt.
func openSecrets() -> [Data] {
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecMatchLimit as String: kSecMatchLimitAll,
        kSecReturnData as String: true, kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip,
    ]
    var result: CFTypeRef?
    SecItemCopyMatching(query as CFDictionary, &result)
    return result as? [Data] ?? []
}
