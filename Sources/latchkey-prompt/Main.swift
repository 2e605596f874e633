// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAgentProtocol
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport
import LatchkeyWire
import TerminalPromptLayout

/// Shows one prompt on the terminal that is its standard input and answers on descriptor 3.
///
/// Started by the daemon only; it knows nothing of policy, keys or items.
@main
enum Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        // What is typed here stays out of core files, out of reach of the user's other programs and, where the kernel
        // allows it, out of swap; the daemon reports whether it does.
        guard (try? ProcessProtection.enable()) != nil else { exit(1) }
        _ = SecretMemory.lock()
        // These end the prompt in order, from the loop that looks for them: nothing is left half drawn.
        _ = EndingSignals()
        let terminal = Terminal(Descriptor(owning: STDIN_FILENO))
        guard isatty(STDIN_FILENO) == 1, fcntl(3, F_GETFD) >= 0, let modes = terminal.modes() else {
            let text = Array("error: latchkey-prompt is started by latchkeyd\nhint: Run latchkey --help\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            exit(64)
        }
        let daemon = Descriptor(owning: 3)
        guard let payload = try? Frame.receive(from: daemon, until: Uptime.deadline(seconds: Limits.requestSeconds)),
            case .show(let prompt) = try? AgentMessage(decoding: payload)
        else { exit(1) }
        // A caller in the background, while a shell or an editor in front reads single keys: a passcode typed now
        // could end in either.
        let isOthers = terminal.isReadingKeys && TerminalJob(prompt.processID)?.isInBackground == true
        guard !isOthers else {
            try? Frame.send(AgentMessage.event(.unavailable).encoded(), to: daemon)
            exit(0)
        }
        let look = Look(
            terminalIsUTF8: terminal.isUTF8, callerReadsKeys: terminal.isReadingKeys, variable: Environment.value)
        let taken = PromptTerminal(terminal, modes: modes)
        var session = PromptSession(prompt, look: look, terminal: taken, daemon: daemon)
        session.run()
        taken.handBack()
        // `exit` closes the descriptor, which tells the daemon that the terminal is as it was.
        exit(0)
    }
}
