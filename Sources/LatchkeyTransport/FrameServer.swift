// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
package import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// What a server tells the program it belongs to. All calls come from the server's thread.
package protocol FrameHandler: AnyObject, Sendable {
    /// A peer connected; nil refuses it.
    func connected(_ connection: FrameConnection) -> (any FrameReceiver)?
    /// Nobody is connected and the idle time is over: whether to stop.
    func mayStop() -> Bool
}

/// What a server tells about one connection. All calls come from the server's thread.
package protocol FrameReceiver: AnyObject, Sendable {
    /// A whole frame arrived.
    func received(_ payload: SecretBytes)
    /// The peer broke the frame format; the connection ends after what is answered here.
    func refused(_ error: FrameError)
    /// The connection is over.
    func disconnected()
}

/// Serves frames on a listening socket, on the thread that runs it.
package final class FrameServer: @unchecked Sendable {
    // Connections and deadlines are only touched by the thread in `run`; `wake` and connections lock for themselves.
    /// Nanoseconds between two looks at who waits, while there are no descriptors to let them in.
    private static let acceptPause: Int64 = 50_000_000
    private let listener: Descriptor
    private let epoll: Descriptor
    private let wakeup: Descriptor
    private unowned let handler: any FrameHandler
    private let idleSeconds: Int64
    private var connections: [CInt: FrameConnection] = [:]
    private var idleDeadline: Int64
    /// Until when nobody is let in, after descriptors ran out; nil while the listener is watched.
    private var acceptsAgain: Int64?
    private let stopping = Mutex(false)

    /// Serves `listener`, a socket that does not block.
    package init(
        _ listener: Descriptor, handler: any FrameHandler, idleSeconds: Int64
    ) throws(SystemError) {
        self.listener = listener
        self.handler = handler
        self.idleSeconds = idleSeconds
        let epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        self.epoll = Descriptor(owning: epoll)
        let wakeup = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeup >= 0 else { throw SystemError("eventfd") }
        self.wakeup = Descriptor(owning: wakeup)
        idleDeadline = Uptime.deadline(seconds: idleSeconds)
        watch(listener.number, EPOLLIN.rawValue, add: true)
        watch(wakeup, EPOLLIN.rawValue, add: true)
    }

    /// Asks the server to stop; from any thread or signal-safe context.
    package func stop() {
        stopping.withLock { $0 = true }
        wake()
    }

    /// Makes the server's thread look at its connections.
    func wake() {
        var one: UInt64 = 1
        _ = write(wakeup.number, &one, 8)
    }

    private func watch(_ descriptor: CInt, _ events: UInt32, add: Bool) {
        _ = latchkey_epoll_control(
            epoll.number, add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, events, UInt32(bitPattern: descriptor))
    }

    /// Serves until `stop`, or until nobody has been connected for the idle time and the handler agrees.
    package func run() throws(SystemError) {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while !stopping.withLock({ $0 }) {
            let count = epoll_wait(epoll.number, &events, CInt(events.count), timeout())
            if count < 0, errno != EINTR { throw SystemError("epoll_wait") }
            for event in events.prefix(max(0, Int(count))) {
                let descriptor = CInt(bitPattern: latchkey_epoll_data(event))
                switch descriptor {
                case listener.number: try acceptAll()
                case wakeup.number:
                    var drained: UInt64 = 0
                    _ = read(wakeup.number, &drained, 8)
                    flushAll()
                default: serve(descriptor, event.events)
                }
            }
            dropLate()
            acceptLater()
            if connections.isEmpty, Uptime.nanoseconds >= idleDeadline {
                if handler.mayStop() { return }
                idleDeadline = Uptime.deadline(seconds: idleSeconds)
            }
        }
    }

    private func timeout() -> CInt {
        var next: Int64? = connections.isEmpty ? idleDeadline : nil
        if let acceptsAgain { next = min(next ?? acceptsAgain, acceptsAgain) }
        for connection in connections.values {
            if let deadline = connection.frameDeadline { next = min(next ?? deadline, deadline) }
        }
        guard let next else { return -1 }
        return CInt(clamping: max(0, (next - Uptime.nanoseconds + 999_999) / 1_000_000))
    }

    private func acceptAll() throws(SystemError) {
        while let descriptor = try accept() {
            guard let peer = try? Sockets.peer(descriptor) else { continue }
            let connection = FrameConnection(descriptor, peer: peer, server: self)
            guard connections.count < Limits.connections else {
                connection.refuseForLimit()
                continue
            }
            guard let receiver = handler.connected(connection) else { continue }
            connection.receiver = receiver
            connections[descriptor.number] = connection
            watch(descriptor.number, EPOLLIN.rawValue | EPOLLRDHUP.rawValue, add: true)
        }
    }

    private func accept() throws(SystemError) -> Descriptor? {
        do throws(SystemError) {
            return try Sockets.accept(listener)
        } catch {
            // Out of descriptors: the peer waits in the queue. The listener stays readable, so it is not watched for a
            // while, or this loop would not rest.
            guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) else { throw error }
            watch(listener.number, 0, add: false)
            acceptsAgain = Uptime.nanoseconds + Self.acceptPause
            return nil
        }
    }

    /// Watches the listener again when its pause is over.
    private func acceptLater() {
        guard let time = acceptsAgain, time <= Uptime.nanoseconds else { return }
        acceptsAgain = nil
        watch(listener.number, EPOLLIN.rawValue, add: false)
    }

    private func serve(_ descriptor: CInt, _ events: UInt32) {
        guard let connection = connections[descriptor] else { return }
        if events & EPOLLOUT.rawValue != 0 { connection.flush() }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
            connection.readFrames()
        }
        settle(connection)
    }

    private func flushAll() {
        for connection in Array(connections.values) {
            connection.flush()
            settle(connection)
        }
    }

    private func settle(_ connection: FrameConnection) {
        let number = connection.descriptor.number
        if connection.isOver {
            _ = latchkey_epoll_control(epoll.number, EPOLL_CTL_DEL, number, 0, 0)
            connections[number] = nil
            // Answers under way may hold the connection a little longer; the peer learns of its end now.
            shutdown(number, CInt(SHUT_RDWR))
            connection.receiver?.disconnected()
            connection.receiver = nil
            if connections.isEmpty { idleDeadline = Uptime.deadline(seconds: idleSeconds) }
            return
        }
        let wanted = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | (connection.hasOutgoing ? EPOLLOUT.rawValue : 0)
        if connection.watched != wanted {
            connection.watched = wanted
            watch(number, wanted, add: false)
        }
    }

    private func dropLate() {
        let now = Uptime.nanoseconds
        for connection in Array(connections.values) {
            guard let deadline = connection.frameDeadline, deadline <= now else { continue }
            connection.refuse(.timedOut)
            settle(connection)
        }
    }
}
