// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire
import Testing

@testable import LatchkeyClient

/// Calls of a thread that must not wait, at a daemon that is the other end of a pair of sockets.
@Suite(.timeLimit(.minutes(1))) struct BegunCallTests {
    private let connection: ClientConnection
    private let daemon: SocketChannel
    private let daemonEnd: Descriptor

    init() throws {
        let (ours, theirs) = try Sockets.pair()
        connection = ClientConnection(SocketChannel(ours))
        (daemon, daemonEnd) = (SocketChannel(theirs), theirs)
    }

    private static let request = Request.ListEverything()
    private static let item = FoundItem(itemClass: .genericPassword, persistentReference: [1])

    /// The number of the next request that has arrived; nil if there is none.
    private func arrived() throws -> UInt64? {
        guard let payload = try daemon.receive(until: Uptime.nanoseconds) else { return nil }
        guard case .request(let id, _) = try Message(decoding: payload) else { return 0 }
        return id
    }

    private func answer(_ id: UInt64, more: Bool = false) throws {
        try daemon.send(Message.encoded(.items([Self.item], more: more), id: id))
    }

    private func taken(_ begun: BegunExchange) throws -> Reply? {
        try begun.reply(until: Uptime.nanoseconds + 1_000_000)
    }

    @Test func aReplyThatIsThereIsTaken() throws {
        for number in 1...3 as ClosedRange<UInt64> {
            let begun = try #require(try connection.begin(Self.request))
            #expect(try arrived() == number)
            try answer(number)
            #expect(try begun.reply(until: Uptime.deadline(seconds: 30)) == .items([Self.item], more: false))
        }
    }

    @Test func aReplyThatComesLaterIsWaitedForWithoutASecondRequest() throws {
        let begun = try #require(try connection.begin(Self.request))
        #expect(try taken(begun) == nil)
        let id = try #require(try arrived())
        try answer(id)
        #expect(try begun.finish(seconds: 30, nil) == .items([Self.item], more: false))
        #expect(try arrived() == nil)
    }

    @Test func aReplyInSeveralPartsIsJoinedLater() throws {
        let begun = try #require(try connection.begin(Self.request))
        let id = try #require(try arrived())
        try answer(id, more: true)
        #expect(try taken(begun) == nil)
        try answer(id)
        #expect(try begun.finish(seconds: 30, nil) == .items([Self.item, Self.item], more: false))
    }

    /// The daemon has stopped in the middle of a frame.
    @Test func halfAReplyIsNotWaitedFor() throws {
        let begun = try #require(try connection.begin(Self.request))
        let payload = Message.encoded(Reply.items([Self.item], more: false), id: 1)
        let frame = [1, 0, 0, 0, UInt8(payload.count)] + payload.copyBytes()
        for part in [frame[..<9], frame[9...]] {
            #expect(try taken(begun) == nil)
            let bytes = Array(part)
            #expect(write(daemonEnd.number, bytes, bytes.count) == bytes.count)
        }
        #expect(try begun.finish(seconds: 30, nil) == .items([Self.item], more: false))
    }

    @Test func nothingIsBegunWhileAnotherCallIsUnderWay() throws {
        do {
            let first = try #require(try connection.begin(Self.request))
            #expect(try connection.begin(Self.request) == nil)
            withExtendedLifetime(first) {}
        }
        #expect(try connection.begin(Self.request) != nil, "the first one was given up")
        #expect(try arrived() == 1)
        #expect(try arrived() == 2)
        #expect(try arrived() == nil)
    }

    @Test func aLongRequestIsNotBegun() throws {
        let item = NewSecret(
            collection: "login", label: "", contentType: "", pairs: .none,
            secret: SecretBytes([UInt8](repeating: 1, count: 16 << 10)))
        let request = Request.UseSecrets(
            process: ProcessName(processID: 1, startTime: 1, userID: 1), isPinned: true,
            action: .store(item, replaces: false))
        #expect(try connection.begin(request) == nil)
        #expect(try arrived() == nil)
        #expect(try connection.begin(Self.request) != nil)
    }

    /// The socket of a daemon that has stopped takes no more at some time; sending would wait then.
    @Test func nothingIsBegunWhileTheDaemonDoesNotRead() throws {
        var count = 0
        while try connection.begin(Self.request) != nil { count += 1 }
        #expect(count > 0)
        while try arrived() != nil {}
        #expect(try connection.begin(Self.request) != nil)
    }

    @Test func anEndedConnectionIsReported() throws {
        let begun = try #require(try connection.begin(Self.request))
        shutdown(daemonEnd.number, CInt(SHUT_RDWR))
        #expect(throws: Failure(.daemonUnavailable)) { try begun.reply(until: Uptime.deadline(seconds: 30)) }
        #expect(!connection.isUsable)
        #expect(try connection.begin(Self.request) == nil)
    }

    /// A channel that is no socket can wait when it sends.
    @Test func anotherChannelBeginsNothing() throws {
        let channel = ScriptedChannel { _ in [] }
        #expect(try ClientConnection(channel).begin(Self.request) == nil && channel.sent.isEmpty)
    }
}
