// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Testing

@testable import LatchkeyService

/// A request that names the access group of another program is refused (behaviour KC-16), and the refusal is recorded.
@Suite struct ForeignGroupTests {
    private let machine: SimulatedService
    private let session: any RequestHandler

    init() throws {
        machine = try SimulatedService()
        session = machine.handler()
    }

    private func reply(to request: Request) -> Reply? {
        InterruptedService.answers(session, request)().last
    }

    private func refusals() throws -> [UInt64] {
        try machine.keychain.log(Request.Log(after: 0, limit: 100, verifies: false)).lines
            .filter { $0.event == .refused }.map(\.count)
    }

    private static let query = ItemQuery(itemClass: .genericPassword, attributes: [.accessGroup: .text("other")])

    @Test func requestForAForeignGroupIsRecordedAsARefusal_KC16() throws {
        let deletion = reply(to: .deleteItems(Self.query))
        guard case .failure(let failure)? = deletion else { throw Failure(.internalFailure) }
        #expect(failure.status == .missingEntitlement)
        #expect(try refusals() == [1])
        let log = try machine.keychain.log(Request.Log(after: 0, limit: 100, verifies: false)).lines
        #expect(log.last?.ground == .refused(.otherApp))
    }

    @Test func requestForTheOwnGroupIsNotRecorded() throws {
        var query = Self.query
        query.attributes = [.accessGroup: .text("app")]
        guard case .failure(let failure)? = reply(to: .deleteItems(query)) else { throw Failure(.internalFailure) }
        #expect(failure.status == .itemNotFound)
        #expect(try refusals().isEmpty)
    }
}
