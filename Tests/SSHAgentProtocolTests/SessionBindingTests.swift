// SPDX-License-Identifier: Apache-2.0

import TestPromises
import Testing

@testable import SSHAgent

@Suite struct SessionBindingTests {
    private let near: TestHost
    private let far: TestHost
    private static let one = [UInt8](repeating: 1, count: 32)
    private static let two = [UInt8](repeating: 2, count: 32)

    init() throws { (near, far) = (try TestHost(.p256), try TestHost(.p384)) }

    @Test func signedSessionIsBound() throws {
        var bindings = SessionBindings()
        #expect(bindings.login == nil && bindings.forwarders.isEmpty)
        bindings.expectBinding(try near.bind(Self.one))
        #expect(bindings.login?.host.blob == near.blob && bindings.login?.sessionID == Self.one)
        #expect(!bindings.hasFailed)
    }

    @Test func forwardedSessionHasTheServersOnTheWay() throws {
        var bindings = SessionBindings()
        bindings.expectBinding(try near.bind(Self.one, forwarding: true))
        #expect(bindings.login == nil)
        bindings.expectBinding(try far.bind(Self.two))
        #expect(bindings.login?.host.blob == far.blob && bindings.forwarders.map(\.blob) == [near.blob])
    }

    @Test(.promise("ssh.bind")) func wrongSignatureFailsForGood() throws {
        var bind = try near.bind(Self.one)
        bind.sessionID = Self.two
        var bindings = SessionBindings()
        bindings.expectRefusal(of: bind)
        let valid = try near.bind(Self.two)
        // A later valid one must not repair it.
        bindings.expectRefusal(of: valid)
        var other = SessionBindings()
        var foreign = try near.bind(Self.one)
        foreign.hostKey = far.blob
        other.expectRefusal(of: foreign)
    }

    @Test func nothingIsBoundAfterASessionThatLogsIn() throws {
        for forwarding in [true, false] {
            var bindings = SessionBindings()
            bindings.expectBinding(try near.bind(Self.one))
            let next = try far.bind(Self.two, forwarding: forwarding)
            bindings.expectRefusal(of: next)
        }
    }

    @Test func sameSessionMayBeBoundAgain() throws {
        var bindings = SessionBindings()
        bindings.expectBinding(try near.bind(Self.one))
        bindings.expectBinding(try near.bind(Self.one))
        #expect(bindings.bindings.count == 1)
        let forwarding = try near.bind(Self.one, forwarding: true)
        bindings.expectRefusal(of: forwarding)
    }

    @Test func replayedForwardingIsAcceptedOnceAndNeverAsALogin() throws {
        var bindings = SessionBindings()
        bindings.expectBinding(try near.bind(Self.one, forwarding: true))
        bindings.expectBinding(try near.bind(Self.one, forwarding: true))
        #expect(bindings.bindings.count == 1)
        let login = try near.bind(Self.one)
        bindings.expectRefusal(of: login)
    }

    @Test func sessionOfAnotherKeyIsRefused() throws {
        var bindings = SessionBindings()
        bindings.expectBinding(try near.bind(Self.one, forwarding: true))
        let other = try far.bind(Self.one, forwarding: true)
        bindings.expectRefusal(of: other)
    }

    @Test func numberOfSessionsIsLimited() throws {
        var bindings = SessionBindings()
        for number in 0..<SSHAgentLimits.bindings {
            let bind = try near.bind([UInt8(number)], forwarding: true)
            bindings.expectBinding(bind)
        }
        let last = try near.bind([99], forwarding: true)
        bindings.expectRefusal(of: last)
    }
}

extension SessionBindings {
    fileprivate mutating func expectBinding(_ bind: SessionBind) {
        let isBound = add(bind)
        #expect(isBound && !hasFailed)
    }

    fileprivate mutating func expectRefusal(of bind: SessionBind) {
        let isBound = add(bind)
        #expect(!isBound && hasFailed)
    }
}
