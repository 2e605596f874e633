// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// Whether a prompt may be shown on the terminal of the program at the other end of a connection.
///
/// That program may pass on a request of another machine, and then it reads the terminal meanwhile: parts of a passcode that
/// is typed would reach that machine. So a request that is forwarded, or can be, has its prompt elsewhere.
enum AskingTerminal {
    /// Returns the name of the program; nil if its terminal is not used, or cannot be.
    static func process(of peer: PeerProcess, for purpose: SigningPurpose) -> ProcessName? {
        guard isOwn(purpose, program: peer.path), let name = peer.name, peer.isUnchanged else { return nil }
        let device = Terminal.controlling(peer.processID)
        // Without a terminal the daemon finds none either. A program that reads single keys, such as ssh in a session, an
        // editor or a shell behind which this program runs, would read keys that are typed at the prompt.
        guard let terminal = Terminal.open(device: device, ownedBy: name.userID), !terminal.isReadingKeys else {
            return nil
        }
        return name
    }

    /// Whether a program asks for itself. `ssh` signs no message of its own, and before OpenSSH 8.9 it binds no session of
    /// those it forwards.
    static func isOwn(_ purpose: SigningPurpose, program: String?) -> Bool {
        switch purpose {
        case .login(_, let host, let through): host != nil && through.isEmpty
        case .message(_, let through): through.isEmpty && program.map { Files.name(of: $0) != "ssh" } ?? false
        }
    }
}
