// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request.Evaluate: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            context: try map.field(0, \.context),
            policy: try map.field(1, \.policy),
            prompting: try map.field(2, \.prompting),
            reuseSeconds: try map.field(3, \.reuseSeconds, omitting: 0))
    }
}

extension Request.EvaluateAccessControl: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            context: try map.field(0, \.context),
            accessControl: try map.field(1, \.accessControl),
            prompting: try map.field(2, \.prompting),
            reuseSeconds: try map.field(3, \.reuseSeconds, omitting: 0))
    }
}

extension Request.InvalidateContext: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(try map.field(0, \.context))
    }
}

extension Request.CanEvaluate: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(try map.field(0, \.policy))
    }
}

extension Request.Environment: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(unlike: try map.optional(0, \.revision))
    }
}

extension Reply.PolicyAnswer: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        let biometry = try map.field(0, \.biometry)
        return Self(refusal: try map.optional(1, \.refusal), biometry: biometry)
    }
}
