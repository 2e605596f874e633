// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem

/// Runs the demo in a pseudo-terminal, reads its output and types the keys of a user.
struct Typist {
    /// Text that occurs in a prompt for a finger only before the first miss, after which the instruction follows the tries.
    private static let opening = " tries left. Keys: Esc/Ctrl-C for Cancel"
    /// The output to wait for, and the keys to type then.
    private static var script: [(cue: String, keys: String)] {
        beforeTheKey + (DemoChip.isInstalled ? [(opening, "m")] : []) + [("every step was checked", "")]
    }
    private static let beforeTheKey: [(cue: String, keys: String)] = [
        ("Type any secret: ", "correct horse battery staple\r"),
        // The fallback button of a policy appears only after the first miss.
        (opening, "x"), ("Cancel, P for ", "p"),
        // This item accepts a finger only, so no button appears.
        (opening, "x"), ("Not recognised. 2 tries left", "m"),
        (opening, "x"), ("2 tries left", "x"), ("One try left", "x"),
        (opening, "x"), ("One try left", "x"),
        ("Type your passcode", Story.passcode + "\r"),
        (opening, "m"),
    ]
    private static let secondsForACue: Int64 = 30

    func run() throws {
        guard let program = Environment.executable else { throw DemoFailure("/proc is not available") }
        // The prompt in sentences, because the output is a transcript and not a screen.
        setenv("LATCHKEY_PROMPT", "plain", 1)
        let terminal = try PseudoTerminal()
        let process = try terminal.spawn(program, ["--told"])
        var prompts: Set<Int32> = []
        do {
            for (cue, keys) in Typist.script {
                guard let text = terminal.read(through: cue, seconds: Typist.secondsForACue, show) else {
                    throw DemoFailure("the demo did not print «\(cue)»")
                }
                collectPrompts(text, &prompts)
                if !keys.isEmpty { try terminal.type(keys) }
            }
            _ = terminal.readToEnd(seconds: 5, show)
        } catch {
            kill(process, SIGTERM)
            Processes.wait(process)
            throw error
        }
        let status = Processes.wait(process)
        guard status == 0 else { throw DemoFailure("the demo ended with wait status \(status)") }
        guard prompts.count >= 6, !prompts.contains(process), !prompts.contains(getpid()) else {
            throw DemoFailure("the prompts did not run in their own processes: \(prompts.sorted())")
        }
        Screen.write(
            "Prompts were processes \(prompts.sorted().map(String.init).joined(separator: ", ")); the app was \(process)."
        )
    }

    /// Collects the process identifiers that prompts print; each must differ from the app's.
    private func collectPrompts(_ text: String, _ prompts: inout Set<Int32>) {
        for part in text.components(separatedBy: "Latchkey prompt, process ").dropFirst() {
            if let number = Int32(part.prefix(while: \.isNumber)) { prompts.insert(number) }
        }
    }

    private func show(_ bytes: [UInt8]) {
        try? StandardStream.output.write(all: bytes.filter { $0 != 0x0d })
    }
}
