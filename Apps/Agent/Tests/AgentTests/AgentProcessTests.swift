// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension ScreenTests {
    /// Tests of the agent as a process: its memory, and reconnection.
    @Suite struct AgentProcessTests {
        /// Smoke test: starts, registers, shows one prompt and cancels it.
        @Test func promptIsShownAndCancelled() throws {
            let machine = try Machine()
            try machine.latchkey("sim passcode set", input: "1234\n")
            let caller = try machine.ask(["--reason", "pay"])
            try machine.sees("Type your passcode, then press Enter.").press("Cancel")
            #expect(caller.end == "userCancel")
            machine.seesNothing()
        }

        @Test(arguments: [false, true])
        func typedPasscodeIsWipedFromAgentMemory(_ isShown: Bool) throws {
            let machine = try Machine()
            try machine.latchkey("sim passcode set", input: "1234\n")
            let caller = try machine.ask(["--reason", "pay"])
            let asking = try machine.sees { $0.field?.isFocused == true }
            if isShown { #expect(asking.toggle?.press() == true) }
            try machine.type("correcthorse7391staple")
            if isShown {
                try machine.sees { $0.toggle?.isPressed == true }
                try machine.picture("passcode-shown-long")
            }
            // Emptying a text overwrites at least its first byte, so the search is for the rest.
            let rest = "horse7391staple"
            let deadline = ContinuousClock.now + .seconds(10)
            // Waits until the keys have arrived, which also proves that the search finds the text.
            while try copies(of: rest, in: machine.agent.number) == 0 {
                try #require(ContinuousClock.now < deadline, "the typed text is not in memory")
            }
            try machine.press("Return")
            // The field remains for another attempt.
            try machine.sees { $0.announced.hasPrefix("The passcode is wrong.") }
            #expect(try copies(of: rest, in: machine.agent.number) == 0)
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
        }

        @Test func typedPasscodeIsNotSentToAssistiveTechnology() throws {
            let machine = try Machine()
            try machine.latchkey("sim passcode set", input: "1234\n")
            let monitor = try AccessibilityMonitor()
            let caller = try machine.ask(["--reason", "pay"])
            try machine.sees { $0.field?.isFocused == true }
            // Text is deleted by the user and by the agent, both hidden and revealed.
            try machine.type("correcthorse7391staple")
            try machine.press("ctrl+a", "BackSpace")
            let asking = try machine.sees { $0.field?.isFocused == true }
            #expect(asking.toggle?.press() == true)
            try machine.sees { $0.toggle?.isPressed == true }
            try machine.type("correcthorse7391staple")
            try machine.press("Return")
            try machine.sees { $0.announced.hasPrefix("The passcode is wrong.") }
            let heard = try monitor.heard(until: "The passcode is wrong.")
            #expect(!heard.contains("correcthorse7391staple"))
            #expect(!heard.contains(#"variant       string "c""#), "nor single characters")
            try machine.press("Escape")
            #expect(caller.end == "userCancel")
        }

        @Test func agentReconnectsAfterDaemonIsKilled() throws {
            let machine = try Machine()
            try machine.latchkey("sim passcode set", input: "1234\n")
            let caller = try machine.ask(["--reason", "pay"], isShown: false)
            try machine.sees("Type your passcode, then press Enter.")
            let daemon = try #require(machine.daemon)
            kill(daemon, SIGKILL)
            #expect(caller.end == "daemonUnavailable")
            machine.seesNothing()
            // The daemon cannot show a prompt until the agent has registered again.
            var next = try machine.ask(["--reason", "pay"], isShown: false)
            while next.program.hasEnded(within: 1), next.end == "notInteractive" {
                next = try machine.ask(["--reason", "pay"], isShown: false)
            }
            try machine.sees("Type your passcode, then press Enter.").press("Cancel")
            #expect(next.end == "userCancel")
        }

        @Test func secondAgentExitsAndFirstContinues() throws {
            let machine = try Machine()
            try machine.latchkey("sim passcode set", input: "1234\n")
            let caller = try machine.ask(["--reason", "pay"])
            try machine.sees("Type your passcode, then press Enter.")
            #expect(try machine.startAnotherAgent().status == 75)
            try machine.sees("Type your passcode, then press Enter.").press("Cancel")
            #expect(caller.end == "userCancel")
        }

        /// Reads a file of procfs, whose size is not known in advance.
        private func all(of path: String) throws -> [UInt8] {
            let file = open(path, O_RDONLY)
            try #require(file >= 0)
            defer { close(file) }
            var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            while case let count = read(file, &piece, piece.count), count > 0 { bytes += piece[..<count] }
            return bytes
        }

        /// Counts the copies of a text in the writable memory of a process.
        private func copies(of text: String, in process: pid_t) throws -> Int {
            let memory = open("/proc/\(process)/mem", O_RDONLY)
            try #require(memory >= 0, "needs CAP_SYS_PTRACE: run it as root")
            defer { close(memory) }
            let maps = String(decoding: try all(of: "/proc/\(process)/maps"), as: UTF8.self)
            var count = 0
            for line in maps.split(separator: "\n") {
                let words = line.split(separator: " ")
                let range = words[0].split(separator: "-").compactMap { Int(exactly: UInt64($0, radix: 16) ?? .max) }
                guard range.count == 2, words[1].hasPrefix("rw"), range[1] - range[0] < 1 << 28 else { continue }
                var bytes = [UInt8](repeating: 0, count: range[1] - range[0])
                let length = pread(memory, &bytes, bytes.count, off_t(range[0]))
                guard length > 0 else { continue }
                var rest = Data(bytes[..<length])
                while let found = rest.range(of: Data(text.utf8)) {
                    count += 1
                    rest = rest[found.upperBound...]
                }
            }
            return count
        }
    }
}
