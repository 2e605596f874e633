// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SeamStandIns
import SimulatedDriver
import Synchronization
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyService

/// Replies with many items are sent in pages, and requests of other connections are answered between the pages.
@Suite struct PagedAnswerTests {
    /// The replies on all connections, in the order in which they were sent.
    private final class Events: Sendable {
        private let sent = Recorder<(app: String, id: UInt64, reply: Reply)>()

        func add(_ app: String, _ payload: SecretBytes) {
            guard case .reply(let id, let reply)? = try? Message(decoding: payload) else { return }
            sent.add((app, id, reply))
        }

        func of(_ app: String, _ id: UInt64) -> [Reply] {
            sent.all.filter { $0.app == app && $0.id == id }.map(\.reply)
        }

        /// Connection and request ID of each reply, in order.
        var order: [String] { sent.all.map { "\($0.app)\($0.id)" } }
    }

    /// The send queue of a connection, whose room the test controls.
    private final class Room: Sendable {
        private let waiting = Mutex<[@Sendable () -> Void]>([])
        private let isOpen: Bool

        init(isOpen: Bool) { self.isOpen = isOpen }

        func wait(_ body: @escaping @Sendable () -> Void) {
            if isOpen { body() } else { waiting.withLock { $0.append(body) } }
        }

        /// Makes room for one page; returns false if no page was waiting.
        @discardableResult
        func give() -> Bool {
            let first = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            first?()
            return first != nil
        }
    }

    private let events = Events()
    private let background = HeldWorkQueue()
    private let service: Service
    private let keychain: Keychain
    private let world: SimulatedWorld

    init() throws { try self.init(background: nil) }

    private init(background other: (any WorkQueue)?) throws {
        let queue = other ?? background
        let simulated = try SimulatedService(scriptsStore: true) { parts, world in
            parts.background = queue
            parts.sessions = world
        }
        (world, keychain, service) = (simulated.world, simulated.keychain, simulated.service)
        send(connect("owner "), 1000, .setPasscode("1234"))
    }

    private func connect(_ name: String, _ room: Room = Room(isOpen: true)) -> HostSession {
        HostSession(
            greeted: service.session(
                caller: SimulatedService.caller, terminal: 0, mayNameItself: true,
                hello: Request.Hello(application: ""), whenRoom: room.wait)
        ) { [events] in events.add(name, $0) }
    }

    private func fill(_ numbers: Range<Int>, _ rule: AccessControl = AccessControl()) throws {
        for number in numbers {
            let request = Request.AddItem(
                attributes: [.account: .text("\(number)")], accessControl: rule, secret: SecretBytes("\(number)".utf8))
            _ = try keychain.add(request, caller: SimulatedService.caller)
        }
    }

    private static func reading(
        _ account: String? = nil, interactionAllowed: Bool = true, context: ContextHandle? = nil
    ) -> Request {
        .copyItems(
            Request.CopyItems(
                ItemQuery(itemClass: .genericPassword, attributes: account.map { [.account: .text($0)] } ?? [:]),
                limit: account == nil ? .all : .one,
                authentication: Authentication(
                    context: context, prompting: Prompting(interactionAllowed: interactionAllowed))))
    }

    private func send(_ session: HostSession, _ id: UInt64, _ request: Request) {
        session.receive(Message.request(id: id, request).encoded())
    }

    /// Returns the secrets in the replies so far.
    private func secrets(_ app: String, _ id: UInt64) -> [String] {
        events.of(app, id).flatMap { reply -> [String] in
            guard case .items(let items, _) = reply else { return [] }
            return items.map { String(decoding: $0.secret?.copyBytes() ?? [], as: UTF8.self) }
        }
    }

    private func isComplete(_ app: String, _ id: UInt64) -> Bool {
        events.of(app, id).last.map { !$0.isPartial } ?? false
    }

    @Test func readIsAnsweredBetweenThePagesOfALongListing() throws {
        let count = 20_000
        try fill(0..<count)
        let lister = connect("lister ")
        let reader = connect("reader ")
        send(lister, 1, Self.reading())
        var id: UInt64 = 1
        repeat {
            send(reader, id, Self.reading("\(count - Int(id))"))
            #expect(secrets("reader ", id) == ["\(count - Int(id))"], "answered before the call returned")
            id += 1
        } while background.step()
        #expect(isComplete("lister ", 1))
        #expect(secrets("lister ", 1) == (0..<count).map(String.init))
        // Reads were answered between most pages of the listing.
        let order = events.order
        #expect(id > UInt64(count / 256))
        #expect(order.firstIndex(of: "reader 100") ?? 0 < order.lastIndex(of: "lister 1") ?? 0)
        #expect(order.firstIndex(of: "lister 1") ?? 0 < order.firstIndex(of: "reader 100") ?? 0)
    }

    @Test func replyOfOnePageIsSentBeforeTheCallReturns() throws {
        try fill(0..<200)
        let lister = connect("lister ", Room(isOpen: false))
        send(lister, 1, Self.reading())
        #expect(events.of("lister ", 1).count == 1)
        #expect(isComplete("lister ", 1))
        #expect(!background.step())
    }

    @Test func listItemsIsAnsweredInPages() throws {
        try fill(0..<1000)
        let lister = connect("lister ")
        send(lister, 1, .listItems(ItemQuery(itemClass: .genericPassword)))
        #expect(!isComplete("lister ", 1))
        background.run()
        #expect(isComplete("lister ", 1))
        let count = events.of("lister ", 1).reduce(0) { sum, reply in
            if case .items(let items, _) = reply { sum + items.count } else { sum }
        }
        #expect(count == 1000)
    }

    @Test func pageIsReadOnlyWhenTheSendQueueHasRoom() throws {
        try fill(0..<2000)
        let room = Room(isOpen: false)
        let lister = connect("lister ", room)
        send(lister, 1, Self.reading())
        var pages = 0
        while !isComplete("lister ", 1) {
            let before = events.order.count
            background.run()
            #expect(events.order.count == before, "no page is read without room")
            try #require(room.give())
            background.run()
            #expect(events.order.count <= before + 1, "one page at a time")
            pages += 1
        }
        #expect(pages > 8)
        #expect(!room.give(), "no page is waiting")
        #expect(secrets("lister ", 1).count == 2000)
    }

    @Test func longRepliesOfOneConnectionTakeTurns() throws {
        try fill(0..<1500)
        let room = Room(isOpen: false)
        let lister = connect("lister ", room)
        for id in 1...3 { send(lister, UInt64(id), .listItems(ItemQuery(itemClass: .genericPassword))) }
        let first = events.order.count
        background.run()
        #expect(room.give())
        #expect(!room.give(), "one page of a connection at a time")
        background.run()
        while room.give() { background.run() }
        #expect((1...3).allSatisfy { isComplete("lister ", UInt64($0)) })
        #expect(Array(events.order[first..<first + 6]) == (0..<6).map { "lister \($0 % 3 + 1)" })
    }

    @Test func closingAConnectionEndsItsPages() throws {
        try fill(0..<2000)
        let lister = connect("lister ")
        send(lister, 1, Self.reading())
        background.step()
        background.step()
        let before = events.order.count
        lister.close()
        background.step()
        #expect(!background.step(), "no further page is read")
        #expect(events.order.count == before)
    }

    @Test func requestsThatWaitEndWithTheirConnection() throws {
        try fill(0..<2000)
        try fill(2000..<2001, Self.bound)
        let room = Room(isOpen: false)
        weak var released: Session?
        do {
            let session = service.session(
                caller: SimulatedService.caller, terminal: 0, mayNameItself: true,
                hello: Request.Hello(application: ""), whenRoom: room.wait)
            released = session
            let host = HostSession(greeted: session) { [events] in events.add("waits ", $0) }
            send(host, 1, .environment(unlike: nil))
            guard case .environment(let now)? = events.of("waits ", 1).first else { throw Failure(.internalFailure) }
            send(host, 1, .environment(unlike: now.revision))
            for id in 2...3 { send(host, UInt64(id), .listItems(ItemQuery(itemClass: .genericPassword))) }
            send(host, 4, Self.reading("2000"))
            #expect(!service.authority.shownPrompts.isEmpty)
            host.close()
        }
        #expect(service.authority.shownPrompts.isEmpty)
        #expect(released == nil, "no task holds the session")
        #expect(!isComplete("waits ", 2) && !isComplete("waits ", 3))
    }

    @Test func requestIDOfALongReplyIsInUseUntilItsEnd() throws {
        try fill(0..<600)
        let lister = connect("lister ")
        send(lister, 1, .listItems(ItemQuery(itemClass: .genericPassword)))
        send(lister, 1, .status)
        #expect(events.of("lister ", 1).last == .failure(Failure(.malformedRequest)))
        background.run()
        send(lister, 1, .status)
        guard case .status? = events.of("lister ", 1).last else {
            Issue.record("the request ID cannot be used again")
            return
        }
    }

    @Test func pagesDoNotRecurseOnASynchronousQueue() throws {
        let tests = try PagedAnswerTests(background: ImmediateWorkQueue())
        try tests.fill(0..<3000)
        let depths = Recorder<Int>()
        let session = HostSession(
            greeted: tests.service.session(
                caller: SimulatedService.caller, terminal: 0, mayNameItself: true,
                hello: Request.Hello(application: "")
            ) { body in
                var mark = 0
                withUnsafePointer(to: &mark) { place in depths.add(Int(bitPattern: place)) }
                body()
            }
        ) { [events = tests.events] in events.add("lister ", $0) }
        tests.send(session, 1, Self.reading())
        #expect(tests.secrets("lister ", 1).count == 3000)
        let all = depths.all
        #expect(all.count > 20)
        let (lowest, highest) = (try #require(all.dropFirst().min()), try #require(all.dropFirst().max()))
        #expect(highest - lowest < 1024)
    }

    // MARK: - Protected items

    private static let bound = AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny)

    private func uses() throws -> Int {
        var lines: [AuditLine] = []
        while true {
            let page = try keychain.log(
                Request.Log(after: lines.last?.sequence ?? 0, limit: Limits.auditEntries, verifies: false))
            guard !page.lines.isEmpty else { return lines.count { $0.event == .used } }
            lines += page.lines
        }
    }

    @Test func firstPassOverProtectedItemsIsPagedAndSendsNothingBeforeItsEnd() throws {
        try fill(0..<1000)
        try fill(1000..<1001, Self.bound)
        let lister = connect("lister ")
        send(lister, 1, Self.reading(interactionAllowed: false))
        #expect(events.of("lister ", 1).isEmpty)
        send(connect("reader "), 1, Self.reading("7"))
        #expect(secrets("reader ", 1) == ["7"])
        background.run()
        #expect(events.of("lister ", 1) == [.failure(Failure(.interactionNotAllowed))])
    }

    @Test func pageOfProtectedItemsIsSentAfterItsUseIsRecorded() throws {
        try fill(0..<700, Self.bound)
        let lister = connect("lister ")
        world.perform(.touch(matching: true))
        send(lister, 1, Self.reading())
        while background.step() {
            let count = try uses()
            #expect(count >= secrets("lister ", 1).count)
        }
        #expect(secrets("lister ", 1) == (0..<700).map(String.init))
        #expect(try uses() == 700)
    }

    @Test func useThatCannotBeRecordedEndsTheReplyWithAFailure() throws {
        try fill(0..<700, Self.bound)
        let lister = connect("lister ")
        world.perform(.touch(matching: true))
        send(lister, 1, Self.reading())
        while secrets("lister ", 1).isEmpty { try #require(background.step()) }
        let before = secrets("lister ", 1).count
        _ = try world.apply(.fail(.diskFull))
        background.run()
        #expect(events.of("lister ", 1).last == .failure(Failure(.diskFull)))
        #expect(secrets("lister ", 1).count == before && before < 700)
    }

    @Test func lockBetweenPagesRevokesTheProof() throws {
        try fill(0..<700, AccessControl(accessibility: .afterFirstUnlock, constraints: .biometryAny))
        let lister = connect("lister ")
        world.perform(.touch(matching: true))
        send(lister, 1, Self.reading())
        while secrets("lister ", 1).isEmpty { try #require(background.step()) }
        let before = secrets("lister ", 1).count
        _ = try world.apply(.lock)
        background.run()
        #expect(secrets("lister ", 1).count == before)
        guard case .failure? = events.of("lister ", 1).last else {
            Issue.record("the reply did not end with a failure")
            return
        }
    }

    @Test func invalidatedContextEndsTheReplyWithAFailure() throws {
        try fill(0..<700, Self.bound)
        let lister = connect("lister ")
        send(lister, 1, .createContext)
        guard case .context(let handle)? = events.of("lister ", 1).first else { throw Failure(.internalFailure) }
        world.perform(.touch(matching: true))
        send(lister, 2, Self.reading(context: handle))
        while secrets("lister ", 2).isEmpty { try #require(background.step()) }
        send(lister, 3, .invalidateContext(handle))
        background.run()
        #expect(events.of("lister ", 2).last == .failure(Failure(.invalidContext)))
    }
}
