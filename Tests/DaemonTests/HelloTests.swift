// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import Testing

/// A connection must begin with exactly one hello request.
@Suite struct HelloTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
    }

    private func status(_ answer: (id: UInt64, reply: Reply)?) -> Status? {
        if case .failure(let failure)? = answer?.reply { failure.status } else { nil }
    }

    @Test func connectionWithoutHelloIsRefusedAndEnded() throws {
        let client = try RawClient(daemon, hello: nil)
        try client.send(.status, id: 5)
        let answer = try client.receive()
        #expect(answer?.id == 5)
        #expect(status(answer) == .malformedRequest)
        #expect(try client.receive() == nil)
    }

    @Test func secondHelloIsRefusedAndEndsConnection() throws {
        let client = try RawClient(daemon, hello: Request.Hello(application: "one"))
        #expect(try client.call(.adding("item"), id: 1) == .done)
        try client.send(.hello(Request.Hello(application: "two")), id: 2)
        let answer = try client.receive()
        #expect(answer?.id == 2)
        #expect(status(answer) == .malformedRequest)
        #expect(try client.receive() == nil)
        let next = try RawClient(daemon, hello: Request.Hello(application: "two"))
        try next.send(.reading("item"), id: 2)
        #expect(try status(next.receive()) == .itemNotFound)
    }
}
