// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension Request.BeginEnrolment: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(party: try map.field(0, \.party, .party), interactionAllowed: try map.field(1, \.interactionAllowed))
    }
}

extension Request.AnswerEnrolment: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            party: try map.field(0, \.party, .party),
            attestationKey: try map.field(1, \.attestationKey, .bytes(limit: Limits.detachedKeyBytes)),
            challenge: try map.field(2, \.challenge, .bytes(limit: Limits.challengeBytes)))
    }
}

extension Request.ProveKey: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            name: try map.field(0, \.name),
            party: try map.field(1, \.party, .party),
            attestationKey: try map.field(2, \.attestationKey, .bytes(limit: Limits.detachedKeyBytes)),
            nonce: try map.field(3, \.nonce, .bytes(limit: Limits.nonceBytes.upperBound)),
            authentication: try map.field(4, \.authentication))
    }
}

extension Reply.Enrolment: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            attestationKey: try map.field(0, \.attestationKey, .bytes(limit: Limits.detachedKeyBytes)),
            request: try map.field(1, \.request, .attestationMessage))
    }
}

extension WireShape where Self == TextShape {
    fileprivate static var party: Self { .text(limit: RelyingParty.nameCharacters) }
}

extension WireShape where Self == BytesShape {
    /// A message of the device for a relying party.
    static var attestationMessage: Self { .bytes(limit: Limits.attestationMessageBytes) }
}
