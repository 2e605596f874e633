// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Testing

@testable import LatchkeyClient

/// Calls of a client, at a daemon whose replies the test writes.
@Suite struct ClientConnectionTests {
    private static let item = FoundItem(itemClass: .genericPassword, persistentReference: [1])
    private static let request = Request.status

    private static func reply(_ id: UInt64, _ reply: Reply) -> SecretBytes { Message.reply(id: id, reply).encoded() }

    @Test func partsOfAReplyOfItemsAreJoined() throws {
        let channel = ScriptedChannel { message in
            [true, true, false].map { Self.reply(message.id, .items([Self.item], more: $0)) }
        }
        let reply = try ClientConnection(channel).call(Self.request, seconds: 30)
        #expect(reply == .items([Self.item, Self.item, Self.item], more: false))
    }

    @Test func aReplyForAnotherRequestIsNotReturned() throws {
        let channel = ScriptedChannel { message in
            [Self.reply(message.id + 1, .groups(["another"])), Self.reply(message.id, .groups(["right"]))]
        }
        #expect(try ClientConnection(channel).call(Self.request, seconds: 30) == .groups(["right"]))
    }

    @Test func eachRequestHasANumberOfItsOwn() throws {
        let channel = ScriptedChannel { [Self.reply($0.id, .done)] }
        let connection = ClientConnection(channel)
        for _ in 0..<3 { _ = try connection.call(Self.request, seconds: 30) }
        #expect(Set(channel.sent.map(\.id)).count == 3 && !channel.sent.map(\.id).contains(0), "0 is the connection")
    }

    @Test func aCallWithoutAReplyTimesOutAndIsCancelled() throws {
        let channel = ScriptedChannel { _ in [] }
        let connection = ClientConnection(channel)
        #expect(throws: Failure(.timedOut)) { try connection.call(Self.request, seconds: 0) }
        #expect(channel.sent == [.request(id: 1, Self.request), .cancel(id: 1)])
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
