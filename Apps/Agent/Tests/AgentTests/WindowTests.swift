// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension ScreenTests {
    /// Tests each state of the window over the accessibility bus and by pixels, and the keys that change the state.
    @Suite struct WindowTests {
        private func machine(_ commands: String...) throws -> Machine {
            let machine = try Machine()
            for command in ["sim enrol"] + commands { try machine.latchkey(command) }
            try machine.latchkey("sim passcode set", input: "1234\n")
            return machine
        }

        @Test func promptsForFingerprintAndReportsFailedAttempts() throws {
            let machine = try machine()
            let caller = try machine.ask(["--reason", "open the token store", "--fallback", "Use Passcode"])
            let first = try machine.sees("Touch the sensor.")
            try machine.picture("touch")
            #expect(first.role == "alert" || first.role == "dialog", "\(first.role)")
            #expect(first.says("“latchkey-test-client” asks for your fingerprint"))
            #expect(first.says("to “open the token store”"))
            #expect(first.all.contains { $0.name.hasPrefix("It is process \(caller.program.number), “/") })
            #expect(first.says("This machine is simulated, for tests only."))
            #expect(first.buttons == ["Cancel", "Play enrolled finger", "Play another finger"])
            #expect(first.announced == "" && first.field == nil, "attempts left are shown only after a failed one")
            first.press("Play another finger")
            let missed = try machine.sees("Not recognised. 2 tries left.")
            try machine.picture("touch-missed")
            #expect(missed.buttons.prefix(2) == ["Cancel", "Use Passcode"])
            #expect(missed.announced == "Not recognised. 2 tries left.")
            missed.press("Play enrolled finger")
            #expect(caller.end == "granted")
            machine.seesNothing()
        }

        @Test func wrongPasscodeIsReportedAndRightOneIsAccepted() throws {
            let machine = try machine()
            let caller = try machine.ask(["--reason", "open the token store"])
            try machine.sees("Touch the sensor.").press("Play another finger")
            try machine.sees("Not recognised. 2 tries left.")
            // The order of the focus is: text, Cancel, Enter Passcode.
            try machine.press("Tab", "Tab", "space")
            let asking = try machine.sees { $0.field?.isFocused == true }
            #expect(asking.says("Type your passcode, then press Enter.") && asking.field?.name == "Passcode")
            #expect(asking.buttons == ["Cancel", "Unlock"] && asking.announced.isEmpty)
            try machine.picture("passcode")
            try machine.type("43")
            #expect(try machine.sees { $0.field != nil }.field?.content.contains("4") == false, "it is not exposed")
            try machine.press("4", "3", "Return")
            let wrong = try machine.sees { $0.announced.hasPrefix("The passcode is wrong. ") }
            #expect(wrong.field?.content.isEmpty == true && wrong.field?.isFocused == true)
            try machine.picture("passcode-wrong")
            try machine.type("1234")
            // A stopped daemon keeps the prompt in the state of checking.
            let daemon = try #require(machine.daemon)
            kill(daemon, SIGSTOP)
            try machine.press("Return")
            let checking = try machine.sees("Checking the passcode.")
            #expect(checking.field?.isSensitive == false && checking.field?.content.isEmpty == true)
            try machine.picture("passcode-checking")
            kill(daemon, SIGCONT)
            #expect(caller.end == "granted")
            machine.seesNothing()
        }

        @Test func toggleRevealsPasscodeAndFocusStaysInField() throws {
            let machine = try machine("sim unenrol")
            let caller = try machine.ask(["--reason", "open the token store"])
            let asking = try machine.sees { $0.field?.isFocused == true }
            let toggle = try #require(asking.toggle)
            // Digits could occur in the number of the process, which the window shows.
            try machine.type("qz")
            let dots = try machine.pixels()
            #expect(toggle.press())
            try machine.sees { $0.toggle?.isPressed == true }
            #expect(try machine.pixels(until: { $0 != dots }) != dots, "the typed text is drawn")
            try machine.type("3")
            let shown = try machine.sees { $0.field?.isFocused == true }
            #expect(!shown.all.contains { $0.name.contains("qz") || $0.content.contains("qz") }, "it is not exposed")
            try machine.picture("passcode-shown")
            // A wrong passcode clears the field and conceals what is typed next.
            try machine.press("Return")
            let wrong = try machine.sees { $0.announced.hasPrefix("The passcode is wrong. ") }
            #expect(wrong.toggle?.isPressed == false)
            try machine.type("1234")
            try machine.press("Return")
            #expect(caller.end == "granted")
        }

        @Test(arguments: ["prefer-light", "prefer-dark"])
        func programPathHasSufficientContrastInBothColourSchemes(_ look: String) throws {
            let machine = try Machine(environment: ["ADW_DEBUG_COLOR_SCHEME": look])
            try machine.latchkey("sim passcode set", input: "1234\n")
            let caller = try machine.ask(["--reason", "pay"])
            let prompt = try machine.sees("Type your passcode, then press Enter.")
            let path = try #require(prompt.all.first { $0.role == "label" && $0.name.hasPrefix("It is process ") })
            #expect(path.name.hasSuffix("/latchkey-test-client”"), "the end of a path is its file")
            // WCAG 2.1, success criterion 1.4.3.
            let contrast = try machine.contrast(of: path)
            #expect(contrast >= 4.5, "\(contrast)")
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
        }

        @Test func biometryOnlyItemOffersNoFallback() throws {
            let machine = try machine()
            try machine.latchkey("set token --protect biometry", input: "secret")
            let caller = try machine.start("latchkey", ["get", "token"])
            try machine.sees("Touch the sensor.").press("Play another finger")
            let missed = try machine.sees("Not recognised. 2 tries left.")
            #expect(missed.buttons == ["Cancel", "Play enrolled finger", "Play another finger"])
            missed.press("Play enrolled finger")
            #expect(caller.said == "secret" && caller.status == 0)
            machine.seesNothing()
        }

        @Test func onlyEscapeAnswersBeforeFocusIsMoved() throws {
            let machine = try machine()
            for tabs in 0...1 {
                let caller = try machine.ask(["--reason", "pay"])
                let first = try machine.sees("Touch the sensor.")
                // Keys meant for another window must not answer the prompt.
                try machine.press("Return", "space", "y", "a")
                #expect(try machine.sees("Touch the sensor.").announced == first.announced)
                for _ in 0..<tabs { try machine.press("Tab") }
                try machine.press("Escape")
                #expect(caller.end == "userCancel")
                machine.seesNothing()
            }
        }

        @Test func tabMovesThroughButtonsInOrder() throws {
            let machine = try machine()
            let caller = try machine.ask(["--reason", "pay"])
            try machine.sees("Touch the sensor.").press("Play another finger")
            try machine.sees("Not recognised. 2 tries left.")
            for title in ["Cancel", "Enter Passcode", "Play enrolled finger", "Play another finger"] {
                try machine.press("Tab")
                try machine.sees { $0.focused?.name == title }
            }
            try machine.press("shift+Tab", "Return")
            #expect(caller.end == "granted")
        }

        @Test func screenReaderStartsWithCallerAndReason() throws {
            let machine = try machine()
            let caller = try machine.ask(["--reason", "pay"])
            try machine.sees("Touch the sensor.")
            try machine.press()
            let first = try machine.sees { $0.focused != nil }
            let words = first.focused?.name ?? ""
            #expect(
                words.hasPrefix("“latchkey-test-client” asks for your fingerprint. to “pay”. It is process"), "\(words)"
            )
            #expect(first.description.contains("asks for your fingerprint to “pay” Touch the sensor."))
            first.press("Cancel")
            #expect(caller.end == "userCancel")
        }

        @Test func lockedSensorPromptsForPasscodeAndSaysWhy() throws {
            let machine = try machine()
            for misses in [3, 2] {
                let caller = try machine.ask(["--policy", "1", "--reason", "try"])
                try machine.sees("Touch the sensor.")
                for _ in 0..<misses { try machine.latchkey("sim touch --other") }
                #expect(["authenticationFailed", "biometryLockout"].contains(caller.end))
                machine.seesNothing()
            }
            let caller = try machine.ask(["--reason", "open the token store"])
            let locked = try machine.sees { $0.field != nil }
            #expect(
                locked.announced == "Too many tries: the fingerprint is locked until the passcode is entered.")
            try machine.picture("touch-locked")
            try machine.type("1234")
            try machine.press("Return")
            #expect(caller.end == "granted")
        }

        @Test func facePermissionIsRequestedBeforeSensorStarts() throws {
            let machine = try machine("sim sensor face", "sim enrol")
            let caller = try machine.ask(
                ["--reason", "open the album", "--face", "finding your pictures"], app: "Album")
            let asking = try machine.sees { $0.buttons.contains("Allow") }
            #expect(
                asking.says("It uses the camera for “finding your pictures”") && asking.says("It calls itself “Album”"))
            #expect(asking.buttons == ["Cancel", "Do Not Allow", "Allow"])
            try machine.picture("face-permission")
            asking.press("Allow")
            let looking = try machine.sees("Look at the sensor.")
            try machine.picture("face")
            looking.press("Play another face")
            try machine.sees("Not recognised. One try left.")
            try machine.picture("face-missed")
            try machine.latchkey("sim look --other")
            let passcode = try machine.sees { $0.field?.isFocused == true }
            #expect(passcode.announced == "Not recognised, and no more tries with your face.")
            try machine.picture("face-finished")
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
        }

        @Test func stoppedSensorIsReportedAndButtonsRemain() throws {
            let machine = try machine("sim sensor face", "sim enrol")
            let caller = try machine.ask(["--policy", "1", "--reason", "open the album", "--face", "pictures"])
            try machine.sees { $0.buttons.contains("Allow") }.press("Allow")
            try machine.sees("Look at the sensor.")
            for _ in 1...2 { try machine.latchkey("sim look --other") }
            let stopped = try machine.sees("The sensor has stopped looking for your face.")
            #expect(stopped.buttons.prefix(2) == ["Cancel", "Enter Password"])
            try machine.picture("face-stopped")
            stopped.press("Enter Password")
            #expect(caller.end == "userFallback")
        }

        @Test func pairedDeviceConfirmsEvaluation() throws {
            let machine = try machine("sim pair watch", "sim near watch")
            let caller = try machine.ask(["--policy", "3", "--reason", "pay"])
            let asking = try machine.sees("Confirm on your paired device.")
            #expect(asking.buttons == ["Cancel", "Enter Password", "Play paired device"])
            try machine.picture("companion")
            asking.press("Play paired device")
            #expect(caller.end == "granted")
            let both = try machine.ask(["--policy", "4", "--reason", "pay"])
            try machine.sees("Touch the sensor, or confirm on your paired device.")
            try machine.picture("touch-or-companion")
            try machine.press("Escape")
            #expect(both.end == "userCancel")
        }

        @Test func longTextIsTruncatedAndMarkupIsNotInterpreted() throws {
            let machine = try machine()
            let reason = "<b>pay</b> &amp; <span size='9999'>" + String(repeating: "a very long reason ", count: 40)
            let title = String(repeating: "Cancel it now ", count: 10)
            let caller = try machine.ask(
                ["--reason", reason, "--cancel", title, "--fallback", title], app: "<u>Bank</u> of everything and more")
            let shown = try machine.sees { $0.all.contains { $0.name.hasPrefix("to “<b>pay</b> &amp; <span") } }
            #expect(shown.says("It calls itself “<u>Bank</u> of everything and more”"))
            #expect(shown.buttons[0].count <= 49)
            shown.press("Play another finger")
            try machine.sees("Not recognised. 2 tries left.")
            try machine.picture("long")
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
        }

        @Test func userTierPromptsForPasscodeWithoutSimulationButtons() throws {
            let machine = try Machine(simulated: false)
            try machine.latchkey("passcode set", input: "1234\n")
            let caller = try machine.ask(["--reason", "open the token store"])
            let asking = try machine.sees { $0.field?.isFocused == true }
            #expect(asking.buttons == ["Cancel", "Unlock"])
            #expect(!asking.all.contains { $0.name.contains("simulated") })
            try machine.picture("user")
            try machine.type("1234")
            try machine.press("Return")
            #expect(caller.end == "granted")
        }
    }
}
