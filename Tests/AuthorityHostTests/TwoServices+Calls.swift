// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Testing

@testable import AuthorityHost

extension TwoServices {
    /// Sends a call as latchkeyd would, and returns the replies with its number.
    func call(_ call: AuthorityCall, number: UInt64 = 9000) throws -> [AuthorityReply] {
        let connection = try #require(self.connection)
        let before = frames.count
        #expect(connection.received(ServiceMessage.authorityCall(number, call).encoded()))
        return frames[before...].compactMap { frame in
            guard case .authorityReply(number, let reply)? = try? ServiceMessage(decoding: frame) else { return nil }
            return reply
        }
    }
}
