// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import Synchronization

/// What a process that serves one user says to the process that accepts connections, and the other way round.
enum WorkerMessage: UInt8, Sendable {
    /// To the process of a user: a connection, as descriptor.
    case connection = 1
    /// From the process of a user: it can take connections.
    case ready = 2
    /// From the process of a user: it has had this number of connections, and would end now.
    case leave = 3
    /// From the process of a user: asks for a connection to the sensors. To it: the connection.
    case sensors = 4

    /// The exit status of a process whose user has no account (EX_NOUSER, sysexits.h).
    static let noAccount: CInt = 67
}

/// The connection of a process that serves one user to the process that accepts connections and started it.
///
/// Each listening socket of the service has an end here, over which its connections of this user arrive. These ends are
/// closed when the process must end: the accepting process stops, has ended, or agrees that this one is idle.
package final class WorkerChannel: Sendable {
    /// The user whose programs this process serves. Chosen by the accepting process from what the kernel reports.
    package let user: UInt32
    private let control: MessageSocket
    private let connections: [MessageSocket]
    private let received = Atomic<UInt64>(0)
    private let ended = Mutex<[@Sendable () -> Void]>([])

    /// The first descriptor: the socket for messages. Those for connections follow.
    private static let first: CInt = 3

    /// Takes the descriptors that the accepting process passed. Called once, before any thread exists.
    ///
    /// - Parameter listeners: the number of listening sockets of the service.
    package init(user: UInt32, listeners: Int) throws(Failure) {
        for number in Self.first...Self.first + CInt(listeners) {
            guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else {
                throw Failure(
                    .invalidParameter, "This process is started by the service, and not by hand.",
                    hint: "See: systemctl status latchkeyd latchkey-authd")
            }
        }
        DaemonProcess.takeName()
        self.user = user
        control = MessageSocket(Descriptor(owning: Self.first))
        connections = (1...listeners).map { MessageSocket(Descriptor(owning: Self.first + CInt($0))) }
    }

    /// Calls `body` once when this process must end. Must be called before connections are served.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) { ended.withLock { $0.append(body) } }

    /// The socket on which connections of a listening socket arrive, for a `FrameServer` with `accept` below.
    package func listener(_ index: Int) -> Descriptor { connections[index].descriptor }

    /// Returns the function with which a `FrameServer` takes the next connection.
    package func accept(_ index: Int) -> @Sendable (Descriptor) throws(SystemError) -> Descriptor? {
        { [self] _ throws(SystemError) in
            let next: MessageSocket.Received
            do throws(SystemError) {
                next = try connections[index].receive()
            } catch {
                // The connection is lost, and its program connects again. It counts, because the accepting process has
                // counted it too.
                if error.code == EMFILE { received.add(1, ordering: .relaxed) }
                throw error
            }
            switch next {
            case .nothing: return nil
            case .end:
                for body in ended.withLock({ ended in
                    defer { ended = [] }
                    return ended
                }) { body() }
                return nil
            case .message(let message):
                guard message.kind == WorkerMessage.connection.rawValue, let descriptor = message.descriptor else {
                    throw SystemError("recvmsg", code: EBADMSG)
                }
                received.add(1, ordering: .relaxed)
                return descriptor
            }
        }
    }

    /// Reports that this process can take connections.
    package func ready() throws(Failure) { try send(.ready) }

    /// Offers to end this process, which is idle. If no connection is on its way, the accepting process ends it.
    package func offerToLeave() throws(Failure) { try send(.leave, received.load(ordering: .relaxed)) }

    /// A connection to the process of the sensors. Blocks until the accepting process has made one; no other thread may wait
    /// for one meanwhile.
    package func sensors(within seconds: Int64 = 5) throws(SystemError) -> Descriptor {
        // An answer that came too late for an earlier call.
        while case .message = try control.receive() {}
        guard try control.send(HandedMessage(kind: WorkerMessage.sensors.rawValue)) else {
            throw SystemError("sendmsg", code: EAGAIN)
        }
        guard let message = try control.wait(until: Uptime.deadline(seconds: seconds)),
            let descriptor = message.descriptor
        else { throw SystemError("recvmsg", code: ETIMEDOUT) }
        return descriptor
    }

    private func send(_ message: WorkerMessage, _ number: UInt64 = 0) throws(Failure) {
        do throws(SystemError) {
            // An accepting process that receives nothing is about to end, and this process with it.
            _ = try control.send(HandedMessage(kind: message.rawValue, number: number))
        } catch {
            throw Failure(error, "The accepting process of the service cannot be reached")
        }
    }
}
