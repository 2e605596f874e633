// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// Multiplexes the requests and replies of any number of threads over one channel.
///
/// It has no thread of its own: one of the waiting callers reads the channel for all of them, so that a single call
/// sends and reads on its own thread.
final class ClientConnection: Sendable {
    fileprivate struct State: Sendable {
        var replies: [UInt64: [Reply]] = [:]
        var nextID: UInt64 = 1
        /// Whether a thread reads the channel; it began with `beginReading`.
        var isReading = false
        var end: Failure?
    }
    /// Has one sender, with `sending` locked, and one reader at a time.
    private let channel: any ClientChannel
    private let sending = Mutex(())
    private let state = Monitor(State())

    init(_ channel: any ClientChannel) { self.channel = channel }

    var isUsable: Bool {
        if let socket = channel as? SocketChannel, !socket.isOurs { return false }
        return state.withLock { $0.end == nil }
    }

    /// Begins the connection: sends hello, and repeats the challenge of a service.
    ///
    /// - Throws: the failure with which the daemon refuses; as `call`.
    func greet(_ hello: Request.Hello, seconds: Int64) throws(Failure) {
        guard let challenge = try call(hello, seconds: seconds).challenge else { return }
        var answer = hello
        answer.challenge = challenge
        _ = try call(answer, seconds: seconds)
    }

    /// Sends a request and waits for its reply. Joins the pages of a reply of items; passes other pages to `page`.
    ///
    /// - Throws: the failure that the reply reports; when no reply arrived before the timeout or the connection broke.
    func call<Call: DaemonRequest>(
        _ request: Call, seconds: Int64, page: (Call.Response) -> Void = { _ in }
    ) throws(Failure) -> Call.Response {
        try Call.contents(of: reply(to: request, seconds: seconds, page: page))
    }

    /// Like `call`, but returns a reply that reports a failure, so that it differs from a broken connection.
    func reply<Call: DaemonRequest>(
        to request: Call, seconds: Int64, cancellation: CallCancellation? = nil, page: (Call.Response) -> Void
    ) throws(Failure) -> Reply {
        try exchange(
            seconds: seconds, cancellation, { Message.encoded(request, id: $0) },
            page: { reply in if let response = Call.response(reply) { page(response) } })
    }

    /// Sends the payload with a new id and waits for the reply. Not generic, so that one copy serves every request.
    private func exchange(
        seconds: Int64, _ cancellation: CallCancellation?, _ payload: (_ id: UInt64) -> SecretBytes,
        page: (Reply) -> Void
    ) throws(Failure) -> Reply {
        let deadline = Uptime.deadline(seconds: seconds)
        let id = state.withLock { $0.beginCall() }
        defer { forget(id) }
        try send(payload(id))
        return try finish(id, until: deadline, cancellation, page: page)
    }

    /// Waits for the reply to a request that was sent, and forgets the request.
    fileprivate func finish(
        _ id: UInt64, until deadline: Int64, _ cancellation: CallCancellation?, page: (Reply) -> Void
    ) throws(Failure) -> Reply {
        defer { forget(id) }
        // If it cannot be sent, the connection has ended, and with it the call.
        cancellation?.begin { [weak self] in try? self?.send(Message.encodedCancel(id: id)) }
        defer { cancellation?.end() }
        var items: [FoundItem] = []
        while true {
            let reply: Reply
            do throws(Failure) {
                reply = try next(id, until: deadline)
            } catch {
                // The reply is no longer needed; the daemon limits the number of pending requests.
                if error.status == .timedOut { try? send(Message.encodedCancel(id: id)) }
                throw error
            }
            if case .items(let some, let more) = reply {
                items += some
                if !more { return .items(items, more: false) }
            } else {
                guard reply.isPartial else { return reply }
                page(reply)
            }
        }
    }

    fileprivate func forget(_ id: UInt64) { state.withLock { $0.replies[id] = nil } }

    private func send(_ payload: SecretBytes) throws(Failure) {
        guard payload.count <= Limits.frameBytes else {
            throw Failure(.dataTooLarge, "The request is larger than one frame.", hint: "A secret has at most 1 MiB.")
        }
        do throws(Failure) { try sending.withLock { _ throws(Failure) in try channel.send(payload) } } catch {
            throw fail(error)
        }
    }

    /// Ends the connection after a failed send. Reads the daemon's reason first, if any: a connection beyond a limit is
    /// closed while its first request is being sent.
    private func fail(_ failure: Failure) -> Failure {
        let isReader = state.withLock { state in state.end == nil ? state.beginReading() : false }
        if isReader { read(until: Uptime.nanoseconds) }
        return state.change { state in
            let reason = state.end ?? failure
            state.end = reason
            return reason
        }
    }

    private enum Step {
        case reply(Reply)
        case ended(Failure)
        case read
        case late
    }

    private func next(_ id: UInt64, until deadline: Int64) throws(Failure) -> Reply {
        while true {
            let left = max(0, deadline - Uptime.nanoseconds)
            // A condition variable cannot wait on CLOCK_BOOTTIME, so the deadline is checked again after a wait.
            let step = state.wait(seconds: left / 1_000_000_000 + 1) { state -> Step? in
                if let reply = state.replies[id]?.first {
                    state.replies[id]?.removeFirst()
                    return .reply(reply)
                }
                if let end = state.end { return .ended(end) }
                guard Uptime.nanoseconds < deadline else { return .late }
                return state.beginReading() ? .read : nil
            }
            switch step {
            case .reply(let reply): return reply
            case .ended(let failure): throw failure
            case .late: throw Failure(.timedOut, "The daemon did not answer in time.", hint: "See: latchkey status")
            case .read: read(until: deadline)
            case nil: break
            }
        }
    }

    /// Reads one frame, whichever request it answers. The caller has begun to read.
    private func read(until deadline: Int64) { read { () throws(Failure) in try channel.receive(until: deadline) } }

    private func read(_ receive: () throws(Failure) -> SecretBytes?) {
        let result = Result { () throws(Failure) in try receive() }
        state.change { state in
            state.isReading = false
            switch result {
            case .success(nil): break
            case .success(let payload?): state.take(payload)
            case .failure(let failure): if state.end == nil { state.end = failure }
            }
        }
    }
}

// MARK: - Calls of a thread that must not wait

/// A request that was sent by `ClientConnection.begin`, until its reply is taken. One thread uses it at a time.
final class BegunExchange: Sendable {
    private let connection: ClientConnection
    private let socket: SocketChannel
    private let id: UInt64

    fileprivate init(_ connection: ClientConnection, _ socket: SocketChannel, _ id: UInt64) {
        (self.connection, self.socket, self.id) = (connection, socket, id)
    }

    // The connection drops the reply if it arrives after this call was released.
    deinit { connection.forget(id) }

    /// The reply if it arrives whole and in one part before `deadline` (`Uptime` nanoseconds); nil otherwise, and while another
    /// thread reads. Then `finish` gets it.
    func reply(until deadline: Int64) throws(Failure) -> Reply? {
        try connection.reply(id, until: deadline, socket)
    }

    /// Waits for the reply, as a call does.
    func finish(seconds: Int64, _ cancellation: CallCancellation?) throws(Failure) -> Reply {
        try connection.finish(id, until: Uptime.deadline(seconds: seconds), cancellation) { _ in }
    }
}

extension ClientConnection {
    /// Largest request of a thread that must not wait. An empty socket takes it at once.
    private static let bytesAtOnce = 16 << 10

    /// Sends a request without waiting; nil if that is not possible, and then nothing was sent: other calls are under way, the
    /// daemon has not read what was sent before, or the request is long.
    func begin<Call: DaemonRequest>(_ request: Call) throws(Failure) -> BegunExchange? {
        guard let socket = channel as? SocketChannel, socket.hasRoom else { return nil }
        let id = state.withLock { state in
            state.end == nil && !state.isReading && state.replies.isEmpty ? state.beginCall() : nil
        }
        guard let id else { return nil }
        let begun = BegunExchange(self, socket, id)
        let payload = Message.encoded(request, id: id)
        guard payload.count <= Self.bytesAtOnce else { return nil }
        let isSent: Bool?
        do throws(Failure) {
            isSent = try sending.withLockIfAvailable { _ throws(Failure) in
                try channel.send(payload)
                return true
            }
        } catch {
            throw fail(error)
        }
        return isSent == nil ? nil : begun
    }

    fileprivate func reply(_ id: UInt64, until deadline: Int64, _ socket: SocketChannel) throws(Failure) -> Reply? {
        while true {
            let step = state.withLock { state -> Step in
                if let reply = state.replies[id]?.first {
                    guard !reply.isPartial else { return .late }
                    state.replies[id]?.removeFirst()
                    return .reply(reply)
                }
                if let end = state.end { return .ended(end) }
                return Uptime.nanoseconds < deadline && state.beginReading() ? .read : .late
            }
            switch step {
            case .reply(let reply): return reply
            case .ended(let failure): throw failure
            case .late: return nil
            case .read: read { () throws(Failure) in try socket.receiveWhole(until: deadline) }
            }
        }
    }
}

extension ClientConnection.State {
    /// The number of a new call.
    fileprivate mutating func beginCall() -> UInt64 {
        defer { nextID += 1 }
        replies[nextID] = []
        return nextID
    }

    /// Whether the calling thread is now the one that reads the channel.
    fileprivate mutating func beginReading() -> Bool {
        guard !isReading else { return false }
        isReading = true
        return true
    }

    fileprivate mutating func take(_ payload: SecretBytes) {
        do throws(WireError) {
            guard case .reply(let id, let reply) = try Message(decoding: payload) else { throw .unknownMessage }
            // Id 0 refers to the connection, not to a request.
            if id == 0, case .failure(let failure) = reply { end = failure }
            // A reply to a request that timed out is dropped.
            if replies[id] != nil { replies[id]?.append(reply) }
        } catch {
            end = Failure(
                .malformedRequest, "The daemon's answer cannot be read (\(error)).",
                hint: "Install the same version of library and daemon.")
        }
    }
}
