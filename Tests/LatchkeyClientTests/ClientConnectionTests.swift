// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Testing

@testable import LatchkeyClient

/// Calls of a client, at a daemon whose replies the test writes.
@Suite struct ClientConnectionTests {
    private static let item = FoundItem(itemClass: .genericPassword, persistentReference: [1])
    private static let request = Request.Status()

    private static func reply(_ id: UInt64, _ reply: Reply) -> SecretBytes { Message.encoded(reply, id: id) }

    @Test func partsOfAReplyOfItemsAreJoined() throws {
        let channel = ScriptedChannel { message in
            [true, true, false].map { Self.reply(message.id, .items([Self.item], more: $0)) }
        }
        let items = try ClientConnection(channel).call(Request.ListEverything(), seconds: 30)
        #expect(items == [Self.item, Self.item, Self.item])
    }

    @Test func aReplyForAnotherRequestIsNotReturned() throws {
        let channel = ScriptedChannel { message in
            [Self.reply(message.id + 1, .groups(["another"])), Self.reply(message.id, .groups(["right"]))]
        }
        #expect(try ClientConnection(channel).call(Request.MapGroups([]), seconds: 30) == ["right"])
    }

    @Test func aReplyOfAnotherKindIsRefused() throws {
        let connection = ClientConnection(ScriptedChannel { [Self.reply($0.id, .groups([]))] })
        #expect(throws: Failure(.internalFailure)) { try connection.call(Self.request, seconds: 30) }
        #expect(connection.isUsable)
    }

    @Test func pagesButTheLastArePassedOn() throws {
        let channel = ScriptedChannel { message in
            [1, 2, 3].map {
                Self.reply(message.id, .check(CheckReport(more: $0 < 3, done: $0, total: 3, findings: [])))
            }
        }
        var pages: [UInt64] = []
        let last = try ClientConnection(channel).call(Request.Check(), seconds: 30) { pages.append($0.done) }
        #expect(pages == [1, 2] && last.done == 3)
    }

    @Test func eachRequestHasANumberOfItsOwn() throws {
        let channel = ScriptedChannel { [Self.reply($0.id, .done)] }
        let connection = ClientConnection(channel)
        for _ in 0..<3 { try connection.call(Request.Lock(), seconds: 30) }
        #expect(Set(channel.sent.map(\.id)).count == 3 && !channel.sent.map(\.id).contains(0), "0 is the connection")
    }

    @Test func aCallWithoutAReplyTimesOutAndIsCancelled() throws {
        let channel = ScriptedChannel { _ in [] }
        let connection = ClientConnection(channel)
        #expect(throws: Failure(.timedOut)) { try connection.call(Self.request, seconds: 0) }
        #expect(channel.sent == [.request(id: 1, .status(Self.request)), .cancel(id: 1)])
        #expect(connection.isUsable)
    }

    @Test func aRefusalOfTheConnectionEndsItWithThatReason() throws {
        let full = Failure(.limitExceeded)
        let connection = ClientConnection(ScriptedChannel { _ in [Self.reply(0, .failure(full))] })
        #expect(throws: full) { try connection.call(Self.request, seconds: 30) }
        #expect(!connection.isUsable)
        #expect(throws: full) { try connection.call(Self.request, seconds: 30) }
    }

    /// The daemon closes a connection beyond a limit while the first request is sent; its reason has arrived before.
    @Test func theReasonThatArrivedBeforeASendFailedIsReported() throws {
        let full = Failure(.limitExceeded)
        let channel = ScriptedChannel { _ in [Self.reply(0, .failure(full))] }
        channel.end(Failure(.daemonUnavailable))
        #expect(throws: full) { try ClientConnection(channel).call(Self.request, seconds: 30) }
    }

    @Test(arguments: [[], [0xff], [0x83, 0x01, 0x01], [0x83, 0x00, 0x01, 0x80]] as [[UInt8]])
    func anAnswerThatCannotBeReadEndsTheConnection(payload: [UInt8]) throws {
        let connection = ClientConnection(ScriptedChannel { _ in [SecretBytes(payload)] })
        do throws(Failure) {
            _ = try connection.call(Self.request, seconds: 30)
            Issue.record("the answer was accepted")
        } catch {
            #expect(error.status == .malformedRequest)
        }
        #expect(!connection.isUsable)
    }
}
