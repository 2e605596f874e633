// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import LatchkeyWire
import LatchkeyWords

/// Shows one prompt on the terminal at its standard input and sends its events on descriptor 3.
///
/// Started only by the daemon; it has no access to policy, keys or items.
@main
enum Main {
    static func main() {
        let arguments = ProgramStart.begin()
        // Keeps typed secrets out of core files, of the user's other programs and, if the kernel permits locked memory,
        // of swap space. The daemon, which needs the same permission, reports when it is missing.
        guard (try? ProcessProtection.enable()) != nil else { ProgramEnd.now(1) }
        _ = SecretMemory.lock()
        if arguments.count == 2, arguments[0] == "--restore" {
            PromptTerminal.restore(modes: arguments[1])
            ProgramEnd.now()
        }
        // Terminating signals are handled by the loop, which removes the prompt completely first.
        _ = EndingSignals()
        let terminal = Terminal(Descriptor(standard: .input))
        guard isatty(STDIN_FILENO) == 1, fcntl(3, F_GETFD) >= 0, let modes = terminal.modes() else {
            let text = Array("error: latchkey-prompt is started by latchkeyd\nhint: Run latchkey --help\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            ProgramEnd.now(64)
        }
        let daemon = Descriptor(owning: 3)
        guard let payload = try? Frame.receive(from: daemon, until: Uptime.deadline(seconds: Limits.requestSeconds)),
            case .show(let prompt) = try? AgentMessage(decoding: payload)
        else { ProgramEnd.now(1) }
        // If the caller is in the background and the foreground program, such as a shell or an editor, reads single
        // keys, that program could read parts of a passcode typed now.
        let isOthers = terminal.isReadingKeys && TerminalJob(prompt.processID)?.isInBackground == true
        guard !isOthers else {
            try? Frame.send(AgentMessage.event(.unavailable).encoded(), to: daemon)
            ProgramEnd.now()
        }
        let look = Look(
            terminalIsUTF8: terminal.isUTF8, callerReadsKeys: terminal.isReadingKeys, variable: Environment.value)
        // The language is that of the caller's terminal, whose environment the daemon has passed on. A terminal without
        // UTF-8 cannot show an isolate.
        let words = look.isUTF8 ? Words.installed(isolates: true, isTerminal: true) : .plainEnglish
        let taken = PromptTerminal(terminal, modes: modes)
        var session = PromptSession(prompt, look: look, words: words, terminal: taken, daemon: daemon)
        session.run()
        taken.handBack()
        // The end closes the descriptor, which tells the daemon that the terminal has been restored.
        ProgramEnd.now()
    }
}
