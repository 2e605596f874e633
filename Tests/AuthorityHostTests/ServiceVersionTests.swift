// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SimulatedDriver
import SystemDriver
import TestPromises
import Testing

@testable import AuthorityDriver

/// The service channel between a latchkeyd and a latchkey-authd of different releases.
@Suite struct ServiceVersionTests {
    /// Connects to a latchkey-authd that sends a welcome of that version, and returns the link and what it logged.
    private func link(_ version: UInt64) -> (AuthorityLink, [Failure]) {
        let log = CollectedEvents()
        let link = AuthorityLink(clock: VirtualClock(), work: ImmediateWorkQueue(), log: log) {
            (received, ended) throws(Failure) in
            let welcome = StoreCall.Welcome(
                version: version, connection: [UInt8](repeating: 1, count: 16),
                key: SecretBytes([UInt8](repeating: 2, count: 32)))
            if !received(ServiceMessage.storeCall(0, .welcome(welcome)).encoded()) { ended() }
            return { _ in }
        }
        link.start()
        return (link, log.entries.compactMap(\.failure))
    }

    @Test(
        .promise("version.services"),
        arguments: [0, UInt64(Limits.wireVersion) + 1, .max])
    func anAuthorityOfAnotherVersionIsNotUsed(version: UInt64) throws {
        let (link, recorded) = link(version)
        #expect(link.connection == nil)
        let failure = try #require(recorded.first)
        #expect(failure.status == .unsupportedVersion && failure.message.contains("version \(version) "))
        #expect(failure.hint == "Install the same version of both services.")
    }

    @Test func anAuthorityOfTheSameVersionIsUsed() {
        let (link, recorded) = link(UInt64(Limits.wireVersion))
        #expect(link.connection != nil && recorded.isEmpty)
    }
}
