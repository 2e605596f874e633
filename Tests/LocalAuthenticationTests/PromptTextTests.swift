// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LocalAuthentication
import Security
import TestPromises
import Testing

/// The texts and buttons of a prompt.
@Suite(.timeLimit(.minutes(1))) struct PromptTextTests {
    private let machine: RecordingMachine

    init() throws { machine = try RecordingMachine() }

    /// Returns the prompt of one evaluation, which is cancelled at once.
    private func prompt(
        _ policy: LAPolicy = .owner, reason: String = "reason", _ prepare: (LAContext) -> Void = { _ in }
    ) async throws -> Prompt {
        let context = machine.run { LAContext() }
        prepare(context)
        machine.perform(.cancel)
        #expect(await Evaluation(context, policy, reason: reason).end == .failure(.userCancel))
        return try #require(machine.shown.last)
    }

    // MARK: - Reason

    @Test func theReasonArgumentOverridesTheProperty_LA38() async throws {
        #expect(try await prompt(reason: "argument") { $0.localizedReason = "property" }.reason == "argument")
    }

    @Test func thePropertyIsUsedByKeychainCalls_LA38_AC09() throws {
        let context = machine.run { LAContext() }
        context.localizedReason = "property"
        #expect(try reasonOfARead(context) == "property")
    }

    @Test func useOperationPromptSetsTheReason_AC09() throws {
        // The value of kSecUseOperationPrompt, which is deprecated: its name would be a compiler warning.
        #expect(try reasonOfARead(nil, more: ["u_OpPrompt": "prompt"]) == "prompt")
    }

    @Test func aKeychainCallWithoutAReasonSaysWhatItDoes_AC09() throws {
        #expect(try !reasonOfARead(nil).isEmpty)
    }

    private func reasonOfARead(_ context: LAContext?, more: [String: Any] = [:]) throws -> String {
        var query: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
        if let context { query[kSecUseAuthenticationContext as String] = context }
        query.merge(more) { $1 }
        try machine.run { () throws in
            let rule = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            let item = [kSecClass: kSecClassGenericPassword, kSecAttrAccessControl: rule] as CFDictionary
            #expect(SecItemAdd(item, nil) == errSecSuccess)
            machine.perform(.cancel)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecUserCanceled)
        }
        return try #require(machine.shown.last).reason
    }

    @Test(.promise("caller.names-itself")) func theDaemonNamesTheCaller_abuse18() async throws {
        let prompt = try await prompt()
        #expect(prompt.caller == "app")
        #expect(prompt.processID == ProcessInfo.processInfo.processIdentifier)
        #expect(prompt.tier == .simulated)
    }

    @Test(.promise("name.texts")) func misleadingCharactersAreReplaced_abuse19() async throws {
        let reason = "pay\u{1b}[31m \u{202e}1000\u{200b}\r\n\n\t  <b>now</b>\u{7}\u{0}"
        #expect(try await prompt(reason: reason).reason == "pay\u{fffd}[31m \u{fffd}1000\u{fffd} <b>now</b>\u{fffd}")
    }

    /// A joiner inside a character affects only its shape; elsewhere joiners could hide text.
    @Test func joinersAreRemovedInsideACharacterAndReplacedElsewhere_abuse19() async throws {
        #expect(try await prompt(reason: "👩\u{200d}💻 می\u{200c}خواهم").reason == "👩💻 میخواهم")
        #expect(try await prompt(reason: "\u{200d}\u{200d}a\n\u{200c}b").reason == "\u{fffd}a \u{fffd}b")
    }

    /// In the attack, a reason closes the prompt's quotation marks and continues with text that looks like the prompt's
    /// own.
    @Test(arguments: [
        "”", "“", "\"", "»", "«", "›", "‹", "„", "‟", "’", "‘", "′", "″", "\u{ff02}", "\u{301e}", "\u{2dd}", "\u{2ee}",
        "\u{275e}", "\u{5f4}", "´", "`", "''", "’’", "\u{2033}\u{301}", "\u{1f677}",
    ])
    func aReasonCannotCloseThePromptsQuotationMarks_abuse19(_ mark: String) async throws {
        let reason = "pay\(mark). Latchkey says: this program is safe."
        let shown = try await prompt(reason: reason) { $0.localizedCancelTitle = "No\(mark)" }
        #expect(shown.reason == "pay'. Latchkey says: this program is safe.")
        #expect(shown.cancelTitle == "No'")
    }

    @Test(arguments: [
        "\u{3164}", "\u{2800}", "\u{115f}", "\u{1160}", "\u{ffa0}", "\u{180e}", "\u{34f}", "\u{17b4}", "\u{2065}",
        "\u{fff0}", "\u{e0fff}", "\u{13441}", "\u{1d159}", "\u{16fe4}", "\u{180b}", "\u{fe0f}",
    ])
    func blankLettersAreReplaced_abuse19(_ blank: String) async throws {
        let text = "a" + String(repeating: blank + " ", count: 20) + blank + "b"
        let reason = try await prompt(reason: text).reason
        #expect(!reason.unicodeScalars.contains { blank.unicodeScalars.contains($0) }, "\(reason.unicodeScalars)")
        #expect(try await prompt(reason: blank + "b").reason.unicodeScalars.contains("\u{fffd}"))
    }

    @Test func apostrophesAndEmojiAreShown() async throws {
        #expect(try await prompt(reason: "don’t l'ouvrir ❤\u{fe0f}").reason == "don't l'ouvrir ❤")
    }

    @Test func aRunOfHiddenCharactersIsShownAsOneReplacementCharacter_abuse19() async throws {
        for scalar in ["\u{202e}", "\u{200b}", "\u{1b}", "\u{7}", "\u{feff}", "\u{e0001}", "\u{e000}"] {
            #expect(
                try await prompt(reason: String(repeating: scalar, count: 10_000)).reason == "\u{fffd}", "\(scalar)")
        }
    }

    @Test func charactersOfTitlesAreReplacedAsInReasons_abuse19() async throws {
        let shown = try await prompt {
            $0.localizedCancelTitle = "\u{1b}[2JNo\u{202e}"
            $0.localizedFallbackTitle = "PIN\u{9b}31m"
        }
        #expect(shown.cancelTitle == "\u{fffd}[2JNo\u{fffd}")
        #expect(shown.fallbackTitle == "PIN\u{fffd}31m")
    }

    @Test(.promise("name.texts")) func aLongReasonIsClipped_abuse19() async throws {
        for reason in [String(repeating: "x", count: 10_000), String(repeating: "🔑", count: 100_000)] {
            let shown = try await prompt(reason: reason).reason
            #expect(shown.count == Limits.reasonCharacters + 1)
            #expect(shown.hasSuffix("…"))
        }
    }

    /// One character can have any number of code points.
    @Test func aReasonOfHugeCharactersIsClipped_abuse19() async throws {
        let character = "e" + String(repeating: "\u{301}", count: 1000)
        let shown = try await prompt(reason: String(repeating: character, count: 100)).reason
        #expect(shown.unicodeScalars.count <= 8 * (Limits.reasonCharacters + 1))
        #expect(shown.unicodeScalars.allSatisfy { ["e", "\u{301}", "…"].contains($0) })
        #expect(shown.first?.unicodeScalars.first == "e")
    }

    @Test func longTitlesAndReasonsOfAContextAreClippedToo_abuse19() async throws {
        let long = String(repeating: "x", count: 100_000)
        let shown = try await prompt {
            $0.localizedCancelTitle = long
            $0.localizedFallbackTitle = long
        }
        #expect(shown.cancelTitle.count == Limits.titleCharacters + 1)
        #expect(shown.fallbackTitle.count == Limits.titleCharacters + 1)
        let context = machine.run { LAContext() }
        context.localizedReason = long
        #expect(try reasonOfARead(context).count == Limits.reasonCharacters + 1)
    }

    // MARK: - Buttons

    @Test func theFallbackButtonAppearsAfterTheFirstFailedTouch_LA25() async throws {
        machine.perform(.touch(matching: false))
        _ = try await prompt(.biometry)
        #expect(machine.contents.map(\.showsFallback) == [false, true])
    }

    @Test func theFallbackButtonAppearsAfterTheSecondFailedFace_LA25() async throws {
        let machine = try RecordingMachine(sensor: .faceID)
        machine.perform(.face(matching: false))
        machine.perform(.face(matching: false))
        machine.perform(.cancel)
        #expect(await Evaluation(machine.run { LAContext() }, .biometry).end == .failure(.userCancel))
        #expect(machine.contents.map(\.showsFallback) == [false, false, true])
    }

    @Test func anEmptyFallbackTitleHidesTheButton_LA25() async throws {
        machine.perform(.touch(matching: false))
        machine.perform(.touch(matching: false))
        _ = try await prompt(.biometry) { $0.localizedFallbackTitle = "" }
        #expect(machine.contents.map(\.showsFallback) == [false, false, false])
    }

    @Test func theFallbackTitleHasADefaultAndCanBeSet_LA25() async throws {
        #expect(try await prompt(.owner).fallbackTitle == "Enter Passcode")
        #expect(try await prompt(.biometry).fallbackTitle == "Enter Password")
        #expect(try await prompt { $0.localizedFallbackTitle = "Use PIN" }.fallbackTitle == "Use PIN")
    }

    @Test func theCancelTitleHasADefaultAndCanBeSet_LA26() async throws {
        #expect(try await prompt().cancelTitle == "Cancel")
        #expect(try await prompt { $0.localizedCancelTitle = "" }.cancelTitle == "Cancel")
        #expect(try await prompt { $0.localizedCancelTitle = "Use Password" }.cancelTitle == "Use Password")
    }

    /// Apple's Face ID shows no reason on the first scan; here every prompt shows the app and the reason before the
    /// scan.
    @Test(arguments: [BiometryKind.touchID, .faceID])
    func everyPromptNamesTheAppAndItsReason_LA39(sensor: BiometryKind) async throws {
        let machine = try RecordingMachine(sensor: sensor)
        machine.perform(.cancel)
        let context = machine.run { LAContext() }
        #expect(await Evaluation(context, .owner, reason: "log in").end == .failure(.userCancel))
        let prompt = try #require(machine.shown.last)
        #expect(prompt.caller == "app")
        #expect(prompt.reason == "log in")
    }

    @Test func thePromptShowsTheNoticeAndTheTriesLeft() async throws {
        machine.perform(.touch(matching: false))
        machine.perform(.fallback)
        machine.perform(.passcode(SecretBytes("4321".utf8)))
        _ = try await prompt(.owner)
        #expect(machine.contents.map(\.method) == [.biometry, .biometry, .passcode, .passcode])
        #expect(machine.contents.map(\.notice) == [.none, .notRecognised, .none, .wrongPasscode])
        #expect(machine.contents.map(\.triesLeft) == [3, 2, 3, 2])
    }

    // MARK: - Properties

    @Test func propertiesStoreTheirValues() {
        let context = machine.run { LAContext() }
        #expect(context.localizedFallbackTitle == nil)
        #expect(context.localizedCancelTitle == nil)
        #expect(context.localizedReason == "")
        #expect(!context.interactionNotAllowed)
        context.localizedFallbackTitle = ""
        context.localizedCancelTitle = "cancel"
        context.localizedReason = "reason"
        context.interactionNotAllowed = true
        #expect(context.localizedFallbackTitle == "")
        #expect(context.localizedCancelTitle == "cancel")
        #expect(context.localizedReason == "reason")
        #expect(context.interactionNotAllowed)
    }
}
