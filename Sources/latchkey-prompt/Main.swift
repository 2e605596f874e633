// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAgentProtocol
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport
import LatchkeyWire

/// Shows one prompt on the terminal that is its standard input and answers on descriptor 3.
///
/// Started by the daemon only; it knows nothing of policy, keys or items.
@main
enum Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
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
        terminal.readKeys(from: modes)
        var session = PromptSession(prompt, terminal: terminal, daemon: daemon)
        session.run()
        terminal.restore(modes)
        // `exit` closes the descriptor, which tells the daemon that the terminal is as it was.
        exit(0)
    }
}
