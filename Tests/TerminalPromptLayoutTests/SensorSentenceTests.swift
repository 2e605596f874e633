// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords
import TestSupport
import Testing

@testable import LatchkeyPrompts

/// The sentences about the sensor are right for each kind, in every language; without a sensor they name none of its
/// objects.
@Suite struct SensorSentenceTests {
    private static let german = Result { () throws -> Words in
        let catalogue = try #require(Catalogue(try Catalogues().bytes("de")))
        return Words(language: "de", catalogue: catalogue, isolates: true)
    }

    private static let english: [BiometryKind: [String]] = [
        .none: [
            "Too many tries: the sensor is locked until the passcode is entered.",
            "Not recognised, and no more tries.", "Allow “notes” to use the camera, now and later?",
            "The sensor has stopped.",
        ],
        .touchID: [
            "Too many tries: the fingerprint is locked until the passcode is entered.",
            "Not recognised, and no more tries with your fingerprint.",
            "Allow “notes” to recognise your fingerprint, now and later?",
            "The sensor has stopped looking for your fingerprint.", "enrolled finger", "another finger",
        ],
        .faceID: [
            "Too many tries: the face is locked until the passcode is entered.",
            "Not recognised, and no more tries with your face.",
            "Allow “notes” to recognise your face, now and later?",
            "The sensor has stopped looking for your face.", "enrolled face", "another face",
        ],
        .opticID: [
            "Too many tries: the eyes are locked until the passcode is entered.",
            "Not recognised, and no more tries with your eyes.",
            "Allow “notes” to recognise your eyes, now and later?",
            "The sensor has stopped looking for your eyes.", "enrolled eyes", "other eyes",
        ],
    ]

    private func sentences(_ sensor: BiometryKind, _ words: Words) -> [String] {
        func state(_ change: (inout PromptContent) -> Void) -> PromptState {
            var content = PromptContent.first
            content.triesLeft = 0
            change(&content)
            let state = PromptState.sample(sensor: sensor, tier: .simulated, content)
            return PromptState(state.prompt, processID: 4712, words: words)
        }
        return [
            state { $0.notice = .biometryLocked }.feedbackAfterTries,
            state { $0.notice = .biometryFinished }.feedbackAfterTries,
            state { $0.question = .permission }.wish, state { _ in }.wish,
        ] + (sensor == .none ? [] : state { $0.triesLeft = 3 }.simulatedKeys.map(\.title))
    }

    @Test(arguments: BiometryKind.allCases) func sentencesAreThoseOfTheSensor(_ sensor: BiometryKind) throws {
        #expect(sentences(sensor, .english) == Self.english[sensor])
        let german = sentences(sensor, try Self.german.get())
        #expect(german.count == Self.english[sensor]?.count)
        #expect(zip(german, sentences(sensor, .english)).allSatisfy { $0 != $1 }, "\(german)")
        #expect(!german.contains { $0.contains("Augen ist ") || $0.contains("code ist gesperrt, bis der") })
    }
}
