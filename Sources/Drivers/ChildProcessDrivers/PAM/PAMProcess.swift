// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

/// The process of one verification.
struct PAMProcess {
    private let process: ChildProcess
    private let socket: Descriptor
    private let deadline: Int64

    /// Starts the process, with nothing of this one but a socket as descriptor 3.
    init(_ program: String, until deadline: Int64) throws(Failure) {
        self.deadline = deadline
        do throws(SystemError) {
            let (near, far) = try Sockets.pair()
            process = try ChildProcess.start(program, [], environment: [], descriptors: [nil, nil, nil, far])
            socket = near
        } catch {
            throw Failure(error, "\(program) cannot be started")
        }
    }

    func send(_ message: PAMMessage) throws(Failure) {
        do throws(FrameError) {
            try Frame.send(message.encoded(), to: socket)
        } catch {
            throw PAMConversation.failure("the process that runs PAM has ended")
        }
    }

    func receive() throws(Failure) -> PAMMessage {
        let payload: SecretBytes
        do throws(FrameError) {
            payload = try Frame.receive(from: socket, until: deadline, limit: PAMMessage.bytes)
        } catch {
            switch error {
            case .timedOut: throw PAMConversation.failure("PAM did not answer in time")
            case .closed, .system, .otherSender: throw PAMConversation.failure("the process that runs PAM has ended")
            case .version, .tooLong: throw Self.garbage
            }
        }
        do throws(WireError) { return try PAMMessage(decoding: payload) } catch { throw Self.garbage }
    }

    /// Ends a `receive` that waits on another thread, as if the process had ended.
    func interrupt() { Sockets.shutDown(socket) }

    /// Kills the process and the programs that its modules have started. Called once.
    func end() { process.endTree() }

    private static var garbage: Failure {
        PAMConversation.violation("the process that runs PAM sent a message that cannot be decoded")
    }
}
