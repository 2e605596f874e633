// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LatchkeyTesting
import NoteLocker
import Testing

/// The notes with simulated sensors and passcodes.
@Suite struct NoteLockerTests {
    private let notes = NoteLocker()

    @Test(.simulator(sensor: .touchID)) func noteIsReadAfterAMatchingFingerprint() throws {
        try notes.write("under the stairs", title: "key")
        #expect(notes.has(title: "key"))
        Simulator.current?.touch(matching: true)
        #expect(try notes.read(title: "key") == "under the stairs")
    }

    @Test(.simulator(sensor: .touchID)) func cancelledPromptThrowsUserCanceled() throws {
        try notes.write("under the stairs", title: "key")
        Simulator.current?.cancel()
        #expect(throws: NoteLocker.Refusal(status: errSecUserCanceled)) { try notes.read(title: "key") }
    }

    @Test(.simulator(sensor: .none, passcode: nil)) func missingNoteThrowsItemNotFound() throws {
        #expect(!notes.has(title: "nothing"))
        #expect(throws: NoteLocker.Refusal(status: errSecItemNotFound)) { try notes.read(title: "nothing") }
    }
}
