// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TPMProtocol
import Testing

@testable import AuthorityDaemon

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

extension [UInt8] {
    /// Whether this is that command of a TPM.
    func isOf(_ command: TPMCommand) -> Bool {
        count >= 10 && self[6..<10].reduce(0) { $0 << 8 | UInt32($1) } == command.rawValue
    }
}
