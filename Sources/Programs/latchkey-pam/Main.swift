// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

/// Runs libpam for one verification, and passes on over descriptor 3 what its modules say.
///
/// Started by `latchkey-authd` only, which decides what is answered and ends the process.
@main
enum Main {
    static func main() {
        ProgramStart.begin()
        do throws(SystemError) {
            // A password passes through this process.
            try ProcessProtection.enable()
            // `pam_unix` reads /etc/shadow as its owner; no module gets a privilege beyond that.
            try Capability.dropAll()
            // latchkey-authd ends what modules have started, such as pam_exec.so with a session of its own.
            try Processes.adoptOrphans()
        } catch {
            exit(1)
        }
        guard fcntl(3, F_GETFD) >= 0 else {
            let text = Array("error: latchkey-pam is started by latchkey-authd\nhint: See latchkey-authd(8)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            exit(64)
        }
        // Programs that modules start must not write to the socket.
        _ = fcntl(3, F_SETFD, FD_CLOEXEC)
        _ = SecretMemory.lock()
        let channel = PAMChannel(Descriptor(owning: 3))
        guard case .begin(let account, let service)? = channel.receive() else { exit(1) }
        let (phase, code) = Verification.run(account, service, channel)
        channel.send(.ended(phase, code: UInt64(UInt32(bitPattern: code))))
        exit(0)
    }
}

/// The socket to `latchkey-authd`.
final class PAMChannel {
    private let socket: Descriptor

    init(_ socket: Descriptor) { self.socket = socket }

    /// Waits for a message; nil if the socket has ended or the message cannot be decoded. PAM then gets a conversation
    /// error, so the password is not found right. `latchkey-authd` kills a process that waits too long.
    func receive() -> PAMMessage? {
        guard let payload = try? Frame.receive(from: socket, until: nil, limit: PAMMessage.bytes) else { return nil }
        return try? PAMMessage(decoding: payload)
    }

    /// Sends a message. If that fails, `latchkey-authd` has ended, and the next `receive` says so.
    func send(_ message: PAMMessage) { try? Frame.send(message.encoded(), to: socket) }
}
