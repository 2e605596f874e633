// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import LatchkeyWire
import Testing

@testable import AuthorityDaemon

/// Whether a recent unlock of the device opens an item is decided by `latchkey-authd`, from what it saw itself.
@Suite struct ReusedUnlockTests {
    private let machine: TwoServices
    private let session: Session
    private static let name: Attributes = [.account: .text("ada")]

    init() throws {
        machine = try TwoServices()
        #expect(machine.setPasscode("abcdef") == [.done])
        session = machine.session()
        let item = Request.AddItem(
            itemClass: .genericPassword, attributes: Self.name,
            accessControl: AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny),
            secret: SecretBytes("word".utf8), returns: [], authentication: Authentication())
        #expect(machine.answers(session, .addItem(item))() == [.done])
    }

    /// The replies to a request for the item that allows no prompt and names these seconds.
    private func read(_ seconds: UInt64) -> [Reply] {
        let request = Request.CopyItems(
            query: ItemQuery(itemClass: .genericPassword, attributes: Self.name), limit: .one, returns: .data,
            authentication: Authentication(
                prompting: Prompting(interactionAllowed: false), reuseSeconds: seconds))
        return machine.answers(session, .copyItems(request))()
    }

    private func isSecret(_ replies: [Reply]) -> Bool {
        guard case .items(let items, _)? = replies.last else { return false }
        return items.map { $0.secret?.copyBytes() } == [Array("word".utf8)]
    }

    @Test func anUnlockThatTheAuthoritySawOpensAnItem_LA33() {
        #expect(machine.answers(session, .lock)() == [.done])
        let unlocked = machine.answers(session, .unlock(Prompting()))
        machine.world.perform(.touch(matching: true))
        #expect(unlocked() == [.done])
        #expect(isSecret(read(10)))
        #expect(read(0).compactMap(\.status) == [.interactionNotAllowed])
    }

    @Test func anUnlockThatLatchkeydClaimsOpensNothing_LA33() throws {
        for kind in [AuthorityCall.Change.Kind.locked, .unlocked] {
            _ = try machine.call(.change(AuthorityCall.Change(userID: TwoServices.userID, kind: kind)), number: 9701)
        }
        #expect(read(300).compactMap(\.status) == [.interactionNotAllowed])
    }
}
