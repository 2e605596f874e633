// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

@testable import QuickNoteCore

@MainActor @Suite struct UnlockTests {
    @Test(.simulator(sensor: .touchID)) func fingerprintUnlocks() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        #expect(app.model.lockButton.title == "Unlock with Fingerprint")
        #expect(app.model.lockButton.symbolName == "touchid")
        #expect(app.model.lockButton.iconName == "auth-fingerprint-symbolic")
        #expect(app.model.lockButton.warning == nil)
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.model.phase == .unlocked)
        #expect(app.titles == ["one"])
        #expect(app.model.lockButton.title == "Lock")
        #expect(app.model.lockButton.symbolName == "lock.open")
    }

    @Test(.simulator(sensor: .faceID)) func faceUnlocksAfterScanWarning() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        #expect(app.model.lockButton.title == "Unlock with Face ID")
        #expect(app.model.lockButton.symbolName == "faceid")
        #expect(app.model.lockButton.warning?.contains("Face ID scans your face as soon as") == true)
        try machine().presentFace(matching: true)
        await app.model.unlock()
        #expect(app.titles == ["one"])
        #expect(app.model.lockButton.warning == nil)
    }

    @Test(.simulator(sensor: .faceID)) func faceDeviceNeverMentionsTouchID() async throws {
        let app = await App.opened("one")
        var said: [String] = []
        func collect() {
            let button = app.model.lockButton
            said += [button.title, button.warning ?? "", button.symbolName, app.model.message ?? ""]
            said += [app.model.passwordPrompt?.words ?? "", app.model.passwordPrompt?.error ?? ""]
        }
        await app.model.lock()
        collect()
        for _ in 0..<6 {
            // After two failed attempts the camera stops, and the prompt remains.
            for _ in 0..<2 { try machine().presentFace(matching: false) }
            try machine().cancel()
            await app.model.unlock()
            collect()
            app.model.cancelPassword()
            try machine().forgetActions()
            try machine().cancel()
            await app.model.unlock()
            collect()
            app.model.cancelPassword()
            try machine().forgetActions()
        }
        try machine().enroll()
        await app.model.unlock()
        collect()
        #expect(said.contains { $0.contains("Face ID") })
        #expect(said.allSatisfy { !$0.lowercased().contains("touch") && !$0.contains("finger") })
    }

    @Test(.simulator()) func cancelLeadsToPassword() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        try machine().cancel()
        await app.model.unlock()
        #expect(app.model.phase == .locked)
        #expect(app.model.passwordPrompt?.words == "Enter your password to unlock your notes.")
        #expect(app.model.message == nil)
        await app.model.submitPassword("pw")
        #expect(app.titles == ["one"])
    }

    @Test(.simulator()) func failedBiometryLeadsToPassword() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        for _ in 0..<3 { try machine().touch(matching: false) }
        await app.model.unlock()
        #expect(app.model.passwordPrompt?.words == "Your finger did not unlock your notes. Enter your password.")
    }

    @Test(arguments: [(LABiometryType.touchID, "Fingerprint", "finger"), (.faceID, "Face ID", "face")])
    func missingPlaceForPromptIsExplained(kind: LABiometryType, name: String, part: String) async throws {
        try await Simulator().run {
            let app = await App {
                $0.makeContext = {
                    ScriptedBiometry(
                        biometryType: kind, answers: [.failure(.notInteractive)], enrolledStateHash: Data([1]))
                }
                $0.biometryProtections = [.standard]
            }
            await app.model.setPassword("pw", again: "pw")
            await app.model.lock()
            await app.model.unlock()
            let words = try #require(app.model.passwordPrompt?.words)
            #expect(words.contains("the program that shows prompts is not running") && words.contains("password"))
            #expect(words.contains(part) && !words.contains("did not unlock"))
            await app.model.submitPassword("wrong")
            #expect(app.model.passwordPrompt?.words == "Enter your password to unlock your notes.")
            await app.model.submitPassword("pw")
            #expect(app.model.phase == .unlocked)
        }
    }

    @Test(.simulator()) func oneButtonOfThePromptLeadsToThePassword() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        try machine().touch(matching: false)
        try machine().cancel()
        await app.model.unlock()
        #expect(app.model.passwordPrompt?.words == "Enter your password to unlock your notes.")
        // A fallback button would be a second one with the same title.
        #expect(try !machine().transcript.lines.contains { $0.contains("Use Password") })
    }

    @Test(.simulator()) func lockoutLeadsToPasswordAndBiometryStaysTrusted() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        for _ in 0..<5 { try machine().touch(matching: false) }
        await app.model.unlock()
        app.model.cancelPassword()
        await app.model.unlock()
        app.model.cancelPassword()
        await app.model.unlock()
        #expect(app.model.passwordPrompt?.words == "Fingerprint is locked after too many tries. Enter your password.")
        #expect(app.model.lockButton.title == "Unlock with Your Password")
        #expect(app.model.lockedWords == "Fingerprint is locked after too many tries. Your password unlocks them.")
        await app.model.submitPassword("pw")
        #expect(app.model.phase == .unlocked)
        await app.model.lock()
        try machine().enter(passcode: "1234")
        try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.titles == ["one"])
    }

    @Test(.simulator(isEnrolled: false)) func passwordIsRequestedWhenNothingIsEnrolled() async {
        let app = await App.opened("one")
        await app.model.lock()
        #expect(app.model.lockButton.title == "Unlock with Your Password")
        #expect(app.model.lockButton.symbolName == "lock")
        await app.model.unlock()
        #expect(app.model.passwordPrompt?.words == "Enter your password to unlock your notes.")
        await app.model.submitPassword("pw")
        #expect(app.titles == ["one"])
    }

    @Test(.simulator(passcode: nil)) func passwordUnlocksWithoutPasscode() async {
        let app = await App.opened("one")
        await app.model.lock()
        await app.model.unlock()
        await app.model.submitPassword("pw")
        #expect(app.titles == ["one"])
    }

    @Test(.simulator()) func changedEnrolmentRequiresPasswordOnce() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        try machine().replaceFinger()
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.model.phase == .locked, "the new finger does not open the notes")
        #expect(app.model.passwordPrompt?.words.contains("has changed") == true)
        await app.model.submitPassword("pw")
        #expect(app.model.phase == .unlocked)
        await app.model.lock()
        await app.model.unlock()
        #expect(app.model.phase == .unlocked, "the pending touch matches, and the enrolment is trusted")
    }

    /// Tests the binding of the item itself, without the app's check of the enrolment.
    @Test(.simulator()) func enrolmentChangeInvalidatesKeyItem() async throws {
        _ = await App.opened("one")
        #expect(try await NoteVault.ofTests.hasBiometry())
        try machine().enroll()
        #expect(try await !NoteVault.ofTests.hasBiometry())
    }

    /// Where items cannot be bound to the enrolment, only the app's check requires the password.
    @Test(.simulator()) func monitorRequiresPasswordWhereItemsAreNotBound() async throws {
        let app = await App { $0.biometryProtections = Array($0.biometryProtections.dropFirst()) }
        await app.model.setPassword("pw", again: "pw")
        await app.model.lock()
        try machine().enroll()
        #expect(try await NoteVault.ofTests.hasBiometry(), "the item would open")
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.model.passwordPrompt?.words.contains("has changed") == true)
        #expect(try machine().unusedActions.count == 1, "no prompt was shown")
        try machine().forgetActions()
    }

    @Test(.simulator()) func fingerEnrolledLaterIsTrustedAfterPassword() async throws {
        try machine().unenroll()
        let app = await App.opened("one")
        await app.model.lock()
        try machine().enroll()
        await app.model.unlock()
        #expect(app.model.passwordPrompt?.words.contains("after that, your finger unlocks") == true)
        await app.model.submitPassword("pw")
        await app.model.lock()
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.titles == ["one"])
    }

    @Test(.simulator()) func restartedAppUnlocksWithFingerprint() async throws {
        _ = await App.opened("one")
        let again = await App()
        try machine().touch(matching: true)
        await again.model.unlock()
        #expect(again.titles == ["one"])
        #expect(try machine().transcript.lines.filter { $0.contains("asks") }.count == 1, "one prompt")
    }

    /// Entering the password while the sensor is active cancels the prompt, whose result is ignored.
    @Test(.simulator(waitsForActions: true)) func passwordCanBeEnteredWhilePromptIsShown() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        let simulator = try machine()
        let unlocking = Task { await app.model.unlock() }
        while simulator.transcript.lines.allSatisfy({ !$0.contains("prompt") }) { await Task.yield() }
        #expect(app.model.isBusy)
        app.model.askForPassword()
        await app.model.submitPassword("pw")
        #expect(app.titles == ["one"])
        await unlocking.value
        #expect(app.model.phase == .unlocked)
        #expect(app.model.passwordPrompt == nil)
        #expect(!app.model.isBusy)
        #expect(simulator.transcript.lines.last?.contains("appCancel") == true)
    }

    #if DEBUG
    @Test(.simulator()) func resetReturnsToFirstRun() async {
        let app = await App.opened("one")
        await app.model.reset()
        #expect(app.model.phase == .firstRun)
        #expect(openSecrets().isEmpty)
        await app.model.setPassword("other", again: "other")
        #expect(app.titles.isEmpty)
    }

    @Test(.simulator(sensor: .none)) func testDoubleUsesSeparateItems() async throws {
        let real = await App.opened("real")
        let app = await App { #expect($0.apply(arguments: ["--test-biometry=success"]) == nil) }
        #expect(app.model.phase == .firstRun)
        await app.model.setPassword("test", again: "test")
        await app.write("fake")
        await app.model.lock()
        await app.model.unlock()
        #expect(app.titles == ["fake"])
        await app.model.reset()
        await real.model.refresh()
        #expect(real.titles == ["real"])
        let cancelling = await App { #expect($0.apply(arguments: ["--test-biometry=cancel"]) == nil) }
        await cancelling.model.setPassword("test", again: "test")
        await cancelling.model.lock()
        await cancelling.model.unlock()
        #expect(cancelling.model.passwordPrompt != nil)
    }
    #endif

    @Test func unknownArgumentsAreRejected() {
        var setup = QuickNoteSetup()
        #expect(setup.apply(arguments: ["--nonsense"]) == "There is no option --nonsense.")
        #expect(setup.apply(arguments: ["--test-biometry=perhaps"])?.isEmpty == false)
    }

    // MARK: - A keychain that cannot be used

    @Test func missingKeychainIsReportedAndRetried() async throws {
        // A detached task has no simulated machine in scope.
        _ = try Simulator()
        let model = QuickNoteModel(setup: QuickNoteSetup(clock: TestClock()))
        await Task.detached { await model.start() }.value
        guard case .unavailable(let words) = model.phase else {
            Issue.record("\(model.phase)")
            return
        }
        #expect(words.contains("keychain"))
        try await Simulator().run { await model.start() }
        #expect(model.phase == .firstRun)
    }

    @Test(arguments: [errSecInvalidKeychain, errSecNotAvailable, errSecWrongSecVersion])
    func unreadableStoreIsNotFirstRun(status: OSStatus) {
        let error = QuickNoteError(.init(status: status))
        guard case .keychain = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.words.contains("keychain cannot be used"))
    }

    @Test(.simulator()) func unlockInALockedKeychainAsksForNothing() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        try machine().lock()
        await app.model.unlock()
        #expect(app.model.passwordPrompt == nil)
        #expect(app.model.message?.contains("keychain is locked") == true)
        #expect(app.model.lockButton.title == "Try Again" && !app.model.takesPassword)
        #expect(app.model.lockedWords.contains("The keychain is locked, and your notes are in it."))
        app.model.dismissMessage()
        try machine().unlock(byBiometry: false)
        try machine().touch(matching: true)
        await app.model.unlock()
        #expect(app.titles == ["one"], "the same button unlocks the notes once the keychain is unlocked")
    }

    @Test(.simulator()) func theFirstPasswordSaysThatTheFingerUnlocksToo() async {
        let app = await App.opened()
        #expect(app.model.trustWords == "From now on, your finger unlocks your notes, too.")
    }

    @Test(.simulator(isEnrolled: false)) func theReasonForThePasswordIsGivenBeforeAButtonIsPressed() async throws {
        let app = await App.opened("one")
        #expect(app.model.trustWords == nil)
        await app.model.lock()
        #expect(app.model.lockedWords == "Fingerprint is not set up on this computer. Your password unlocks them.")
        try machine().enroll()
        await app.model.start()
        #expect(app.model.lockedWords == "Enter your password once; after that, your finger unlocks them.")
        await app.enter()
        await app.model.lock()
        #expect(app.model.lockedWords == "Unlock to see them.")
        try machine().enroll()
        await app.model.start()
        let words = "What the sensor recognises, or the passcode, has changed, so your password is needed once."
        #expect(app.model.lockedWords == words)
    }

    @Test(.simulator(sensor: .none)) func withoutASensorThePageSaysNothingAboutOne() async {
        let app = await App.opened("one")
        await app.model.lock()
        #expect(app.model.lockedWords == "Unlock to see them.")
    }

    @Test(.simulator()) func notesLockWithTheKeychain() async throws {
        let app = await App.opened("one")
        try machine().lock()
        await app.model.refresh()
        #expect(app.model.phase == .locked)
        #expect(app.model.message?.contains("keychain is locked") == true)
    }

    @Test(.simulator()) func textThatWasKeptIsNoLongerReportedOnceItIsBack() async throws {
        let app = await App.opened("one")
        app.clock.advance(10)
        await app.model.newNote()
        app.model.edit("two")
        try machine().lock()
        await app.model.refresh()
        #expect(app.model.phase == .locked)
        #expect(app.model.hasUnsavedText)
        #expect(app.model.message?.contains("could not be saved") == true)
        try machine().unlock(byBiometry: false)
        await app.enter()
        #expect(app.titles == ["two", "one"])
        #expect(app.model.message == nil)
    }

    @Test(.simulator()) func lockedDeviceIsReported() async throws {
        let app = await App.opened("one")
        await app.model.lock()
        try machine().lock()
        app.model.askForPassword()
        await app.model.submitPassword("pw")
        #expect(app.model.phase == .locked)
        #expect(app.model.passwordPrompt?.error?.contains("keychain is locked") == true)
        try machine().unlock(byBiometry: false)
        await app.model.submitPassword("pw")
        #expect(app.titles == ["one"])
    }
}

extension NoteVault {
    /// The vault that the app uses in these tests.
    static var ofTests: NoteVault {
        NoteVault(keychain: .init(), service: "QuickNote.key", biometryProtections: [.currentBiometry])
    }
}
