// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

/// Multiplexes the requests and replies of any number of threads over one channel.
///
/// It has no thread of its own: one of the waiting callers reads the channel for all of them, so that a single call
/// sends and reads on its own thread.
final class ClientConnection: @unchecked Sendable {
    // Everything below is only accessed with `lock` held, except the channel, which has one sender and one reader at a
    // time.
    private let channel: any ClientChannel
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let sending = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var replies: [UInt64: [Reply]] = [:]
    private var nextID: UInt64 = 1
    private var isReading = false
    private var end: Failure?

    init(_ channel: any ClientChannel) {
        self.channel = channel
        pthread_mutex_init(lock, nil)
        pthread_mutex_init(sending, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Setting the wall clock back must not prolong a wait.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(lock)
        pthread_mutex_destroy(sending)
        pthread_cond_destroy(changed)
        lock.deallocate()
        sending.deallocate()
        changed.deallocate()
    }

    var isUsable: Bool {
        if let socket = channel as? SocketChannel, !socket.isOurs { return false }
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return end == nil
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
        to request: Call, seconds: Int64, page: (Call.Response) -> Void
    ) throws(Failure) -> Reply {
        try exchange(
            seconds: seconds, { Message.encoded(request, id: $0) },
            page: { reply in if let response = Call.response(reply) { page(response) } })
    }

    /// Sends the payload with a new id and waits for the reply. Not generic, so that one copy serves every request.
    private func exchange(
        seconds: Int64, _ payload: (_ id: UInt64) -> SecretBytes, page: (Reply) -> Void
    ) throws(Failure) -> Reply {
        let deadline = Uptime.deadline(seconds: seconds)
        pthread_mutex_lock(lock)
        let id = nextID
        nextID += 1
        replies[id] = []
        pthread_mutex_unlock(lock)
        defer {
            pthread_mutex_lock(lock)
            replies[id] = nil
            pthread_mutex_unlock(lock)
        }
        try send(payload(id))
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

    private func send(_ payload: SecretBytes) throws(Failure) {
        guard payload.count <= Limits.frameBytes else {
            throw Failure(.dataTooLarge, "The request is larger than one frame.", hint: "A secret has at most 1 MiB.")
        }
        pthread_mutex_lock(sending)
        defer { pthread_mutex_unlock(sending) }
        do throws(Failure) { try channel.send(payload) } catch { throw fail(error) }
    }

    /// Ends the connection after a failed send. Reads the daemon's reason first, if any: a connection beyond a limit is
    /// closed while its first request is being sent.
    private func fail(_ failure: Failure) -> Failure {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if end == nil, !isReading { read(until: Uptime.nanoseconds) }
        let reason = end ?? failure
        end = reason
        pthread_cond_broadcast(changed)
        return reason
    }

    private func next(_ id: UInt64, until deadline: Int64) throws(Failure) -> Reply {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while true {
            if let reply = replies[id]?.first {
                replies[id]?.removeFirst()
                return reply
            }
            if let end { throw end }
            guard Uptime.nanoseconds < deadline else {
                throw Failure(.timedOut, "The daemon did not answer in time.", hint: "See: latchkey status")
            }
            if isReading { wait(until: deadline) } else { read(until: deadline) }
        }
    }

    /// Reads one frame, whichever request it answers; releases `lock` while it waits.
    private func read(until deadline: Int64) {
        isReading = true
        pthread_mutex_unlock(lock)
        let result = Result { () throws(Failure) in try channel.receive(until: deadline) }
        pthread_mutex_lock(lock)
        isReading = false
        switch result {
        case .success(nil): break
        case .success(let payload?): take(payload)
        case .failure(let failure): if end == nil { end = failure }
        }
        pthread_cond_broadcast(changed)
    }

    private func take(_ payload: SecretBytes) {
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

    private func wait(until deadline: Int64) {
        // A condition variable cannot wait on CLOCK_BOOTTIME, so `next` checks the deadline again.
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let left = max(0, deadline - Uptime.nanoseconds)
        time.tv_sec += Int(left / 1_000_000_000) + 1
        pthread_cond_timedwait(changed, lock, &time)
    }
}
