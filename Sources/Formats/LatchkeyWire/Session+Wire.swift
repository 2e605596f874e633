// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request.Hello: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            application: try map.field(0, \.application, .text(limit: Limits.applicationBytes)),
            faceUsage: try map.optional(1, \.faceUsage, .text(limit: Limits.titleBytes)),
            groups: try map.field(
                2, \.groups, .list(of: .text(limit: Limits.applicationBytes), limit: Limits.accessGroups),
                omitting: []),
            challenge: try map.optional(3, \.challenge, .bytes(count: Self.challengeBytes)))
    }
}

extension Reply.Welcome: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            tier: try map.field(0, \.tier),
            processID: try map.field(1, \.processID),
            challenge: try map.optional(2, \.challenge, .bytes(count: Request.Hello.challengeBytes)))
    }
}

extension Failure: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            try map.field(0, \.status), try map.field(1, \.message, .phrase), hint: try map.field(2, \.hint, .phrase))
    }
}

extension Request.FacePermissionChange: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            application: try map.field(0, \.application, .text(limit: Limits.applicationBytes)),
            mayAskAgain: try map.field(1, \.mayAskAgain))
    }
}

extension FacePermission: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            application: try tuple.field(0, \.application, .text(limit: Limits.applicationBytes)),
            isAllowed: try tuple.field(1, \.isAllowed))
    }
}

/// The parameters of an operation that has none, and the contents of a reply that has none.
struct NoFields: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self()
    }
}
