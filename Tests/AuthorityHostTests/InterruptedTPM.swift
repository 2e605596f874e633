// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Synchronization
import TPMDriver
import TPMProtocol
import TestSupport

/// The socket of a software TPM that loses its power in the middle of a command: the whole command was sent, and its
/// response is not read.
final class InterruptedTPM: TPMConnecting {
    /// How far the TPM is when it loses its power.
    enum Moment: Sendable, CaseIterable {
        /// It has received the command and has not begun it.
        case notCarriedOut
        /// It has sent its response, so what the command changes is in its memory.
        case carriedOut
    }
    private struct State: Sendable {
        /// Commands so far that change the memory; nil before they are counted.
        var changes: Int?
        /// The command that was interrupted.
        var interrupted: TPMCommand?
    }
    /// The commands that change the non-volatile memory of the TPM. `policySecret` writes the count of a passcode's index.
    private static let changing: [TPMCommand] = [
        .nvDefineSpace, .nvUndefineSpace, .nvWrite, .nvChangeAuthorization, .nvIncrement, .policySecret, .evictControl,
    ]
    private let tpm: SwitchedTPM
    private let number: Int
    private let moment: Moment
    private let cut: @Sendable () -> Void
    private let state = Mutex(State())

    /// Interrupts the command with that number, from 0, of those that change the memory.
    ///
    /// - Parameter cut: called before the power is cut.
    init(_ tpm: SwitchedTPM, at number: Int, _ moment: Moment, cut: @escaping @Sendable () -> Void) {
        (self.tpm, self.number, self.moment, self.cut) = (tpm, number, moment, cut)
    }

    /// Begins to count.
    func begin() { state.withLock { $0.changes = 0 } }

    /// The command that was interrupted; nil if there were fewer.
    var interrupted: TPMCommand? { state.withLock { $0.interrupted } }

    func connect() throws(Failure) -> any TPMTransport {
        do throws(SystemError) {
            return Connection(tpm: self, socket: try Sockets.connect(tpm.path))
        } catch {
            throw Failure(.enclaveUnavailable, "The TPM has no power.", cause: error)
        }
    }

    /// Whether the power is cut at this command.
    private func isDue(_ command: [UInt8]) -> Bool {
        guard let changing = Self.changing.first(where: command.isOf) else { return false }
        return state.withLock { state in
            guard let count = state.changes else { return false }
            state.changes = count + 1
            if count == number { state.interrupted = changing }
            return count == number
        }
    }

    private struct Connection: TPMTransport {
        let tpm: InterruptedTPM
        let socket: Descriptor

        var isExclusive: Bool { true }

        func pause(milliseconds: Int) { _ = poll(nil, 0, CInt(clamping: milliseconds)) }

        func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] {
            let isDue = tpm.isDue(command)
            do throws(SystemError) {
                if isDue, tpm.moment == .notCarriedOut { tpm.tpm.suspend() }
                try socket.write(all: command)
                if isDue {
                    if tpm.moment == .carriedOut { try waitForResponse() }
                    tpm.cut()
                    tpm.tpm.cutPower()
                    throw SystemError("read", code: ECONNRESET)
                }
                return try read()
            } catch {
                throw Failure(.enclaveUnavailable, "The TPM has no power.", cause: error)
            }
        }

        private func read() throws(SystemError) -> [UInt8] {
            var response: [UInt8] = []
            var size = TPMFrame.headerBytes
            while response.count < size {
                try waitForResponse()
                let bytes = try socket.read(atMost: TPMFrame.responseLimit)
                guard !bytes.isEmpty else { throw SystemError("read", code: ECONNRESET) }
                response += bytes
                if response.count >= TPMFrame.headerBytes {
                    size = response[2..<6].reduce(0) { $0 << 8 | Int($1) }
                }
            }
            return response
        }

        /// Waits until the TPM has sent something.
        private func waitForResponse() throws(SystemError) {
            guard try socket.wait(for: POLLIN, until: Uptime.deadline(seconds: 60)) else {
                throw SystemError("poll", code: ETIMEDOUT)
            }
        }
    }
}
