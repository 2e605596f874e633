// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import Synchronization
import SystemDriver
import Testing

@testable import LatchkeyClient

/// A client call that times out is cancelled in the daemon too.
@Suite struct TimedOutCallTests {
    /// A connection that never waits: `receive` returns nil if there is no reply yet.
    private final class Channel: ClientChannel {
        private let replies = Mutex<[SecretBytes]>([])
        private let host = Mutex<HostSession?>(nil)

        func open(_ machine: InterruptedService) {
            let session = HostSession(greeted: machine.session) { [self] reply in replies.withLock { $0.append(reply) }
            }
            host.withLock { $0 = session }
        }

        func send(_ payload: SecretBytes) throws(Failure) { host.withLock { $0 }?.receive(payload) }

        func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
            replies.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    @Test func timedOutCallsAreCancelledInTheDaemon() throws {
        let channel = Channel()
        channel.open(try InterruptedService(work: ImmediateWorkQueue()))
        let connection = ClientConnection(channel)
        let now = try connection.call(Request.Environment(unlike: nil), seconds: 30)
        for _ in 0...Limits.requestsInFlight {
            #expect(throws: Failure(.timedOut)) {
                try connection.call(Request.Environment(unlike: now.revision), seconds: 0)
            }
        }
        #expect(throws: Never.self, "the connection accepts more requests") {
            try connection.call(Request.Status(), seconds: 30)
        }
    }
}
