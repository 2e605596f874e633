// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

/// Copies of a secret that remain in memory after encoding and decoding.
@Suite struct ResidueTests {
    @Test(arguments: [32, 300, 5000]) func encodingAndDecodingLeaveNoCopyOfASecret(_ count: Int) throws {
        let secret = SecretTrace.makeSecret(byteCount: count)
        let trace = SecretTrace(of: secret)
        var payload: SecretBytes? = message(with: secret).encoded()
        #expect(trace.copiesInMemory() == 2)
        var decoded: Message? = try Message(decoding: try #require(payload))
        #expect(trace.copiesInMemory() == 3)
        payload = nil
        #expect(trace.copiesInMemory() == 2)
        #expect(decoded != nil)
        decoded = nil
        #expect(trace.copiesInMemory() == 1)
    }

    @Test func aRefusedFrameLeavesNoCopyOfItsSecret() throws {
        let secret = SecretTrace.makeSecret(byteCount: 300)
        let trace = SecretTrace(of: secret)
        let payload = message(with: secret).encoded()
        let longer = SecretBytes(count: payload.count + 1) { target in payload.withBytes { target.copyMemory(from: $0) }
        }
        #expect(trace.copiesInMemory() == 3)
        #expect(throws: WireError.trailingBytes) { try Message(decoding: longer) }
        #expect(trace.copiesInMemory() == 3)
    }

    /// The secrets after the first make the writer move to larger memory, so the first place of the secret must be wiped.
    private func message(with secret: SecretBytes) -> Message {
        let secrets = [secret, SecretBytes(count: 20_000) { _ in }, SecretBytes(count: 50_000) { _ in }]
        return .reply(
            id: 1, .items(secrets.map { FoundItem(itemClass: .genericPassword, secret: $0) }, more: false))
    }
}
