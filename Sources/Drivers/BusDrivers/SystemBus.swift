// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeySystem
import Synchronization

/// The connection of this process to a message bus, usually that of the system, and the thread that owns it.
///
/// The connection is made by the first call, and again by the first call after it was lost. All functions but `run` are
/// for the bus's thread, which `run` reaches; it also calls every closure that is given to them. The thread waits
/// without a time limit while no call is under way and no timer is set.
package final class SystemBus: @unchecked Sendable {
    // Sendable: `inbox` has a lock, and everything else that changes belongs to the thread.

    /// A timer, for `cancel`.
    package struct Timer: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A rule of `observe`, for `ignore`.
    package struct Observation: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct Rule {
        let number: UInt64
        let rule: String
        let body: (BusSignal) -> Void
        var match: AnyObject?
    }

    /// A call to answer, for the bus's thread only.
    package struct Incoming {
        fileprivate let call: SDBus.Incoming
        fileprivate let connection: SDBus
    }

    /// Messages that are processed before timers and jobs have their turn: a flood of messages must not delay them.
    private static let messagesInTurn = 64

    private struct Inbox {
        var jobs: [@Sendable () -> Void] = []
        /// Whether a byte was written since the jobs were taken.
        var isWoken = false
        var isEnding = false
        /// The bus's thread; nil until it runs.
        var thread: pthread_t?
    }

    private struct Due {
        let deadline: Int64
        let body: () -> Void
    }

    private let address: String?
    private let mostValues: Int
    private let inbox = Mutex(Inbox())
    private let wakeEnd: Descriptor
    private let sleepEnd: Descriptor

    private var connection: SDBus?
    private var rules: [Rule] = []
    private var service: (path: String, body: (BusRequest, Incoming) -> Void)?
    private var lostHandlers: [() -> Void] = []
    private var failures: [UInt64: (BusError) -> Void] = [:]
    private var timers: [UInt64: Due] = [:]
    private var watched: [(file: Descriptor, body: () -> Void)] = []
    private var lastNumber: UInt64 = 0

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - address: of the bus; nil for that of the system.
    ///   - mostValues: maximum values of one message; a message with more counts as one that cannot be read.
    package init(address: String? = nil, mostValues: Int = 4096) throws(SystemError) {
        self.address = address
        self.mostValues = mostValues
        (wakeEnd, sleepEnd) = try Sockets.pair()
        Processes.detachThread { [self] in loop() }
    }

    /// Ends the thread and the connection, which also gives up everything that was claimed over it.
    package func end() {
        inbox.withLock { $0.isEnding = true }
        wake()
    }

    // MARK: - From any thread

    /// Calls `body` on the bus's thread, after everything that was submitted before.
    package func run(_ body: @escaping @Sendable () -> Void) {
        inbox.withLock { $0.jobs.append(body) }
        wake()
    }

    /// Whether this is the bus's thread, which must not wait for itself.
    package var isCurrent: Bool { inbox.withLock { $0.thread }.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    private func wake() {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isWoken = true }
            return !inbox.isWoken
        }
        // One byte is enough for any number of jobs. It can only fail if the thread has ended.
        if isFirst { _ = write(wakeEnd.number, [0], 1) }
    }

    // MARK: - On the bus's thread

    /// Calls a method. `reply` is called once, at the latest when `milliseconds` have passed.
    package func call(_ call: BusCall, milliseconds: Int64, _ reply: @escaping (Result<[BusValue], BusError>) -> Void) {
        let number = next()
        do throws(BusError) {
            let connection = try connect()
            var timer: Timer?
            let sent = try connection.send(call) { [weak self] result in
                self?.failures[number] = nil
                if let timer { self?.cancel(timer) }
                reply(result)
            }
            timer = after(milliseconds: milliseconds) { [weak self] in
                self?.failures[number] = nil
                connection.cancel(sent)
                reply(.failure(.timedOut))
            }
            failures[number] = { [weak self] error in
                if let timer { self?.cancel(timer) }
                reply(.failure(error))
            }
        } catch {
            // Later, because the caller may not expect an answer before this function has returned.
            after(milliseconds: 0) { reply(.failure(error)) }
        }
    }

    /// Receives the signals that a match rule selects, from now on and also over later connections.
    ///
    /// - Returns: the rule, for `ignore`.
    @discardableResult
    package func observe(_ rule: String, _ body: @escaping (BusSignal) -> Void) -> Observation {
        let number = next()
        var added = Rule(number: number, rule: rule, body: body)
        if let connection {
            do throws(BusError) { added.match = try connection.match(rule, body) } catch { lose(error) }
        }
        rules.append(added)
        return Observation(number: number)
    }

    /// Ends an observation; from then on its closure is not called.
    package func ignore(_ observation: Observation) {
        guard let index = rules.firstIndex(where: { $0.number == observation.number }) else { return }
        let removed = rules.remove(at: index)
        if let match = removed.match { connection?.remove(match) }
    }

    /// Receives all calls of the object `path` and those below it, over this connection and later ones. To be called once.
    package func serve(_ path: String, _ body: @escaping (BusRequest, Incoming) -> Void) {
        service = (path, body)
        guard let connection else { return }
        do throws(BusError) { try serve(over: connection) } catch { lose(error) }
    }

    private func serve(over connection: SDBus) throws(BusError) {
        guard let service else { return }
        try connection.serve(service.path) { [weak connection] request, call in
            guard let connection else { return }
            service.body(request, Incoming(call: call, connection: connection))
        }
    }

    /// Answers a call. It is dropped if the connection over which it came is lost, or if the answer cannot be made.
    package func answer(_ call: Incoming, _ answer: BusAnswer) {
        guard let connection, call.connection === connection else { return }
        do throws(BusError) { try connection.answer(call.call, answer) } catch .malformed {
            // The caller must not wait for ever. If this fails too, the connection has ended.
            try? connection.answer(
                call.call, .error(name: "org.freedesktop.DBus.Error.Failed", message: "The answer cannot be sent."))
        } catch { lose(error) }
    }

    /// Sends a signal; it is dropped without a connection.
    package func send(_ event: BusEvent) {
        guard let connection else { return }
        do throws(BusError) { try connection.send(event) } catch .malformed {} catch { lose(error) }
    }

    /// Calls `body` whenever a connection is lost, after all its calls have failed.
    package func whenLost(_ body: @escaping () -> Void) { lostHandlers.append(body) }

    /// Ends the connection. The programs at the other end drop what this process has claimed.
    package func disconnect() { lose(.disconnected(ECONNRESET)) }

    /// Calls `body` once, in `milliseconds`, unless the timer is cancelled first.
    @discardableResult
    package func after(milliseconds: Int64, _ body: @escaping () -> Void) -> Timer {
        let number = next()
        timers[number] = Due(deadline: Uptime.nanoseconds + milliseconds * 1_000_000, body: body)
        return Timer(number: number)
    }

    package func cancel(_ timer: Timer) { timers[timer.number] = nil }

    /// Calls `body` whenever the file can be read. `body` must read what there is.
    package func watch(_ file: Descriptor, _ body: @escaping () -> Void) { watched.append((file, body)) }

    private func next() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private func connect() throws(BusError) -> SDBus {
        if let connection { return connection }
        let made = try SDBus(address: address, mostValues: mostValues)
        for index in rules.indices { rules[index].match = try made.match(rules[index].rule, rules[index].body) }
        try serve(over: made)
        connection = made
        return made
    }

    private func lose(_ error: BusError) {
        guard connection != nil else { return }
        connection = nil
        for index in rules.indices { rules[index].match = nil }
        let failed = failures.sorted { $0.key < $1.key }
        failures = [:]
        for (_, fail) in failed { fail(error) }
        for body in lostHandlers { body() }
    }

    // MARK: - The loop

    private func loop() {
        inbox.withLock { $0.thread = pthread_self() }
        while true {
            // The flag is cleared with the jobs, after the bytes were read: a job that finds the flag set is in this list,
            // and one that comes later writes a byte that the next wait finds.
            let (jobs, isEnding) = inbox.withLock { inbox in
                defer { (inbox.jobs, inbox.isWoken) = ([], false) }
                return (inbox.jobs, inbox.isEnding)
            }
            for job in jobs { job() }
            if isEnding { return finish() }
            fireTimers()
            wait(processMessages() ? 0 : nil)
        }
    }

    private func finish() {
        lose(.disconnected(ESHUTDOWN))
        rules = []
        service = nil
        lostHandlers = []
        timers = [:]
        watched = []
    }

    private func fireTimers() {
        let now = Uptime.nanoseconds
        let due = timers.filter { $0.value.deadline <= now }.sorted { $0.value.deadline < $1.value.deadline }
        // An earlier timer of the same turn can cancel a later one.
        for (number, _) in due { timers.removeValue(forKey: number)?.body() }
    }

    /// - Returns: whether there may be more messages.
    private func processMessages() -> Bool {
        // The connection may end in a handler; the object remains until this function returns.
        guard let connection else { return false }
        do throws(BusError) {
            for _ in 0..<Self.messagesInTurn {
                guard try connection.process(), self.connection === connection else { return false }
            }
            return true
        } catch {
            if self.connection === connection { lose(error) }
            return false
        }
    }

    private func wait(_ limit: Int64?) {
        // Handlers of messages may have set a timer or lost the connection.
        let bus = connection?.descriptor
        let now = Uptime.nanoseconds
        let due = timers.values.map { max(0, ($0.deadline - now + 999_999) / 1_000_000) }.min()
        let timeout = [limit, due, connection?.timeout].compactMap { $0 }.min() ?? -1
        var entries = [pollfd(fd: sleepEnd.number, events: Int16(POLLIN), revents: 0)]
        entries += watched.map { pollfd(fd: $0.file.number, events: Int16(POLLIN), revents: 0) }
        if let bus { entries.append(pollfd(fd: bus.number, events: bus.events, revents: 0)) }
        guard poll(&entries, nfds_t(entries.count), CInt(clamping: timeout)) > 0 else { return }
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 16)
            _ = read(sleepEnd.number, &bytes, bytes.count)
        }
        for (entry, watch) in zip(entries.dropFirst(), watched) where entry.revents != 0 { watch.body() }
    }
}

/// A value that only the bus's thread uses.
package struct Confined<Value>: @unchecked Sendable {
    // Sendable: it is made before that thread knows it, and used there afterwards.
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
