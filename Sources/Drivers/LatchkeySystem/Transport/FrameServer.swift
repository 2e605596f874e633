// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
package import LatchkeyModel
import Synchronization

/// Receives a server's events. All calls come from the server's thread.
package protocol FrameHandler: AnyObject, Sendable {
    /// Whether this peer is served; others are disconnected without an answer.
    func serves(_ peer: PeerCredentials) -> Bool
    /// Called for each accepted connection; nil refuses it.
    func connected(_ connection: FrameConnection) -> (any FrameReceiver)?
    /// The payload that tells a peer why its connection is refused.
    func payload(of refusal: Failure) -> SecretBytes
    /// Called when no peer has been connected for the idle time; true stops the server.
    func mayStop() -> Bool
    /// Called once when nothing has happened for the rest time; the server then sleeps until the next event.
    func rested()
}

extension FrameHandler {
    package func rested() {}
}

/// Receives the events of one connection. All calls come from the server's thread.
package protocol FrameReceiver: AnyObject, Sendable {
    /// A complete frame arrived. Its bytes count in the budget until `held` is released.
    func received(_ payload: SecretBytes, holding held: HeldBytes)
    /// The peer violated the frame format. The connection ends once the answers sent by this method are written.
    func refused(_ error: FrameError)
    func disconnected()
}

/// Serves frames on a listening socket, on the thread that runs it.
///
/// Programs of a user share the daemon, and none of them is trusted. So the server bounds what each can take:
/// connections (`ConnectionCaps`), bytes (`ByteBudget`) and time (`Deadlines`). When a limit is reached it stops
/// reading from that program or ends its connection, and the others continue.
///
/// `run` is one loop over epoll, with one `FrameConnection` for each peer. Only that thread touches connections; other
/// threads send through queues that wake it. The server knows frames and no requests: a `FrameHandler` makes a receiver
/// for each connection.
package final class FrameServer: @unchecked Sendable {
    /// How long a peer may take, and the clock that measures it.
    package struct Deadlines: Sendable {
        /// Maximum time to complete a frame after its first byte.
        package var frameSeconds = Limits.frameSeconds
        /// Maximum time from the acceptance of a connection to its first complete frame; nil for none.
        package var firstFrameSeconds: Int64?
        /// Maximum time to read queued answers once the connection is ending.
        package var endSeconds = Limits.endSeconds
        /// The monotonic clock, in nanoseconds.
        package var now: @Sendable () -> Int64 = { Uptime.nanoseconds }

        package init() {}

        var ofFrame: Int64 { now() + frameSeconds * 1_000_000_000 }
        var ofFirstFrame: Int64? { firstFrameSeconds.map { now() + $0 * 1_000_000_000 } }
        var ofEnd: Int64 { now() + endSeconds * 1_000_000_000 }
    }

    // Connections and deadlines are only accessed by the thread in `run`; `wake` and connections do their own locking.
    /// Back-off before accepting again after EMFILE or ENFILE, in nanoseconds.
    private static let acceptPause: Int64 = 50_000_000
    private let listener: Descriptor
    private let acceptNext: @Sendable (Descriptor) throws(SystemError) -> Descriptor?
    private let epoll: Descriptor
    private let wakeup: Descriptor
    private unowned let handler: any FrameHandler
    private let idleSeconds: Int64
    private let restSeconds: Int64
    private let deadlines: Deadlines
    private let bindsToSender: Bool
    private var caps: ConnectionCaps
    /// Limits the memory that the connections of this server occupy.
    package let budget: ByteBudget
    /// Number of turns of the loop, so that a test can check that it does not spin.
    package var turns: Int { turnCount.load(ordering: .relaxed) }
    private let turnCount = Atomic(0)
    private var connections: [CInt: FrameConnection] = [:]
    private var idleDeadline: Int64
    /// When to notify the handler that nothing happens; nil after it was notified.
    private var restDeadline: Int64?
    /// When to accept again after descriptors ran out; nil while the listener is watched.
    private var acceptsAgain: Int64?
    private let stopping = Mutex(false)

    /// Serves `listener`, a non-blocking socket.
    ///
    /// - Parameters:
    ///   - idleSeconds: seconds without a connection after which the server asks whether to stop.
    ///   - restSeconds: seconds without an event after which `rested` is called.
    ///   - bindsToSender: whether a connection is for the process that made it alone: what another one sends, such as a child
    ///     that has inherited the descriptor, ends it. The listening socket must record senders (`Sockets.recordSenders`).
    package init(
        _ listener: Descriptor, handler: any FrameHandler, idleSeconds: Int64,
        restSeconds: Int64 = Limits.restSeconds, deadlines: Deadlines = Deadlines(),
        bindsToSender: Bool = false,
        caps: ConnectionCaps.Bounds = ConnectionCaps.Bounds(), bytes: ByteBudget.Bounds = ByteBudget.Bounds(),
        accept: @escaping @Sendable (Descriptor) throws(SystemError) -> Descriptor? = {
            (listener) throws(SystemError) in try Sockets.accept(listener)
        }
    ) throws(SystemError) {
        acceptNext = accept
        self.listener = listener
        self.handler = handler
        self.idleSeconds = idleSeconds
        self.restSeconds = restSeconds
        self.deadlines = deadlines
        self.bindsToSender = bindsToSender
        self.caps = ConnectionCaps(caps)
        let epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        self.epoll = Descriptor(owning: epoll)
        let wakeup = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeup >= 0 else { throw SystemError("eventfd") }
        let waker = Descriptor(owning: wakeup)
        self.wakeup = waker
        budget = ByteBudget(bytes) { FrameServer.wake(waker) }
        idleDeadline = Uptime.deadline(seconds: idleSeconds)
        watch(listener.number, EPOLLIN.rawValue, add: true)
        watch(wakeup, EPOLLIN.rawValue, add: true)
    }

    /// Stops the server after the current turn of its loop; may be called from any thread.
    package func stop() {
        stopping.withLock { $0 = true }
        wake()
    }

    /// Makes the server's thread process its connections.
    func wake() { FrameServer.wake(wakeup) }

    private static func wake(_ wakeup: Descriptor) {
        var one: UInt64 = 1
        _ = write(wakeup.number, &one, 8)
    }

    private func watch(_ descriptor: CInt, _ events: UInt32, add: Bool) {
        _ = latchkey_epoll_control(
            epoll.number, add ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, events, UInt32(bitPattern: descriptor))
    }

    /// Serves until `stop`, or until no peer was connected for the idle time and the handler agrees. Blocks the thread.
    package func run() throws(SystemError) {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while !stopping.withLock({ $0 }) {
            turnCount.add(1, ordering: .relaxed)
            let count = epoll_wait(epoll.number, &events, CInt(events.count), timeout())
            if count < 0, errno != EINTR { throw SystemError("epoll_wait") }
            if count > 0 { restDeadline = deadlines.now() + restSeconds * 1_000_000_000 }
            for event in events.prefix(max(0, Int(count))) {
                let descriptor = CInt(bitPattern: latchkey_epoll_data(event))
                switch descriptor {
                case listener.number: try acceptAll()
                case wakeup.number:
                    var drained: UInt64 = 0
                    _ = read(wakeup.number, &drained, 8)
                    lookAtAll()
                default: serve(descriptor, event.events)
                }
            }
            dropLate()
            acceptLater()
            if let restDeadline, restDeadline <= deadlines.now() {
                self.restDeadline = nil
                handler.rested()
            }
            if connections.isEmpty, Uptime.nanoseconds >= idleDeadline {
                if handler.mayStop() { return }
                idleDeadline = Uptime.deadline(seconds: idleSeconds)
            }
        }
    }

    private func timeout() -> CInt {
        var left: Int64?
        if connections.isEmpty { left = idleDeadline - Uptime.nanoseconds }
        if let restDeadline { left = min(left ?? .max, restDeadline - deadlines.now()) }
        if let acceptsAgain { left = min(left ?? .max, acceptsAgain - deadlines.now()) }
        if let deadline = connections.values.compactMap(\.deadline).min() {
            left = min(left ?? .max, deadline - deadlines.now())
        }
        guard let left else { return -1 }
        return CInt(clamping: max(0, (left + 999_999) / 1_000_000))
    }

    private func acceptAll() throws(SystemError) {
        while let descriptor = try accept() {
            // A peer of another user, or without credentials, is disconnected without an answer.
            guard let peer = try? Sockets.peer(descriptor), handler.serves(peer) else { continue }
            // A connection from before its listening socket recorded senders has not inherited that. Without it every byte
            // counts as another process's.
            if bindsToSender { try? Sockets.recordSenders(descriptor) }
            let process = PeerProcess(descriptor, peer)
            let connection = FrameConnection(
                descriptor, peer: peer, process: process, server: self, budget: budget, deadlines: deadlines,
                bindsToSender: bindsToSender)
            if let refusal = caps.admit(process: peer.processID, program: process.program) {
                // The buffer of a new socket has room for the whole frame; the connection closes when it is
                // deallocated.
                connection.send(handler.payload(of: refusal))
                continue
            }
            guard let receiver = handler.connected(connection) else {
                caps.leave(process: peer.processID, program: process.program)
                continue
            }
            connection.receiver = receiver
            connections[descriptor.number] = connection
            watch(descriptor.number, EPOLLIN.rawValue | EPOLLRDHUP.rawValue, add: true)
        }
    }

    private func accept() throws(SystemError) -> Descriptor? {
        do throws(SystemError) {
            return try acceptNext(listener)
        } catch {
            // Out of descriptors: the peer stays in the listen queue, or its connection is lost if another process has accepted it. The listener remains readable, so watching it
            // pauses; the loop would otherwise spin.
            guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) else { throw error }
            watch(listener.number, 0, add: false)
            acceptsAgain = deadlines.now() + Self.acceptPause
            return nil
        }
    }

    /// Watches the listener again when its pause is over.
    private func acceptLater() {
        guard let time = acceptsAgain, time <= deadlines.now() else { return }
        acceptsAgain = nil
        watch(listener.number, EPOLLIN.rawValue, add: false)
    }

    private func serve(_ descriptor: CInt, _ events: UInt32) {
        guard let connection = connections[descriptor] else { return }
        if events & EPOLLOUT.rawValue != 0 { connection.flush() }
        switch connection.phase {
        case .reading:
            let wanted = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
            if events & wanted != 0 { connection.readFrames() }
        case .paused, .ending:
            // These phases do not read the end of the stream, so its events would be reported again in every turn.
            if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { connection.fail() }
        }
        update(connection)
    }

    /// Sends queued frames and resumes suspended connections, those of the programs that hold the fewest bytes first.
    private func lookAtAll() {
        let programs = connections.values.map { ($0, $0.share.held) }
        for (connection, _) in programs.sorted(by: { $0.1 < $1.1 }) {
            connection.flush()
            connection.resume()
            update(connection)
        }
    }

    private func update(_ connection: FrameConnection) {
        let number = connection.descriptor.number
        if connection.isOver {
            _ = latchkey_epoll_control(epoll.number, EPOLL_CTL_DEL, number, 0, 0)
            connections[number] = nil
            caps.leave(process: connection.peer.processID, program: connection.process.program)
            // Pending answers may retain the connection a little longer; the peer must see its end now.
            shutdown(number, CInt(SHUT_RDWR))
            connection.receiver?.disconnected()
            connection.receiver = nil
            if connections.isEmpty { idleDeadline = Uptime.deadline(seconds: idleSeconds) }
            return
        }
        var wanted = connection.hasOutgoing ? EPOLLOUT.rawValue : 0
        switch connection.phase {
        case .reading: wanted |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue
        case .paused: wanted |= EPOLLRDHUP.rawValue
        case .ending: break
        }
        if connection.watched != wanted {
            connection.watched = wanted
            watch(number, wanted, add: false)
        }
    }

    private func dropLate() {
        let now = deadlines.now()
        for connection in Array(connections.values) {
            guard let deadline = connection.deadline, deadline <= now else { continue }
            if case .ending = connection.phase { connection.fail() } else { connection.refuse(.timedOut) }
            update(connection)
        }
    }
}
