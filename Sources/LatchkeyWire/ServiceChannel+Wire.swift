// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The fields of the messages between `latchkeyd` and `latchkey-authd`.

extension ProcessName: WireTuple {
    static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            processID: try tuple.field(0, \.processID),
            startTime: try tuple.field(1, \.startTime),
            userID: try tuple.field(2, \.userID))
    }
}

extension ProgramIdentity: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            label: try map.field(0, \.label, .text(limit: Limits.titleBytes)),
            program: try map.field(1, \.program, .text(limit: Limits.titleBytes)),
            application: try map.field(2, \.application, .text(limit: Limits.titleBytes)),
            groups: try map.field(
                3, \.groups, .list(of: .text(limit: Limits.titleBytes), limit: Limits.accessGroups)),
            strength: try map.field(4, \.strength),
            terminal: try map.field(5, \.terminal),
            session: try map.field(6, \.session, .text(limit: Limits.applicationBytes)))
    }
}

extension AuthorityCall.Attach: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            isPasscodeSet: try map.field(1, \.isPasscodeSet),
            isLocked: try map.field(2, \.isLocked))
    }
}

extension AuthorityCall.Evaluate: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            plan: try map.field(0, \.plan, PlanShape()),
            process: try map.field(1, \.process),
            faceUsage: try map.optional(2, \.faceUsage, .text(limit: Limits.titleBytes)),
            prompting: try map.field(3, \.prompting),
            purpose: try map.field(4, \.purpose),
            lastStep: try map.field(5, \.lastStep),
            recoveryCode: try map.optional(6, \.recoveryCode, .secret(limit: Limits.recoveryCodeBytes)),
            reuseSeconds: try map.field(7, \.reuseSeconds),
            challenge: try map.field(8, \.challenge, .bytes(count: AuthToken.digestBytes)),
            binding: try map.field(9, \.binding, .bytes(count: AuthToken.digestBytes)),
            keyUses: try map.field(10, \.keyUses))
    }
}

/// The stages of a plan, each with its methods in ascending order.
private struct PlanShape: WireShape {
    /// Maximum stages of a plan; an access control gives at most three.
    private static let stages = 8

    func write(_ value: AuthenticationPlan, to writer: inout CBORWriter) {
        ListShape(item: MethodsShape(), limit: Self.stages).write(value.stages, to: &writer)
    }

    func read(from reader: inout CBORReader) throws(WireError) -> AuthenticationPlan {
        let stages = try ListShape(item: MethodsShape(), limit: Self.stages).read(from: &reader)
        // A stage without methods could never be completed.
        guard stages.allSatisfy({ !$0.isEmpty }) else { throw .invalidValue }
        return AuthenticationPlan(stages)
    }
}

extension AuthorityCall.Withdraw: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(evaluation: try map.field(0, \.evaluation), status: try map.field(1, \.status))
    }
}

extension AuthorityCall.Change: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), kind: try map.field(1, \.kind))
    }
}

extension AuthorityCall.SetFacePermission: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            application: try map.field(1, \.application, .text(limit: Limits.applicationBytes)),
            isAllowed: try map.optional(2, \.isAllowed))
    }
}

extension AuthorityCall.BindKey: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            storeID: try map.field(1, \.storeID, .bytes(count: AuthToken.identifierBytes)),
            rule: try map.field(2, \.rule))
    }
}

extension AuthorityCall.Approve: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        let userID = try map.field(0, \.userID)
        let storeID = try map.field(1, \.request.storeID, .bytes(count: AuthToken.identifierBytes))
        let rule = try map.field(2, \.request.rule)
        let subject = ApprovalSubject(
            keyName: try map.field(3, \.request.subject.keyName, .bytes(limit: 64)),
            command: try map.field(4, \.request.subject.command),
            parameters: try map.field(5, \.request.subject.parameters, .bytes(limit: 512)),
            policyReference: try map.field(
                6, \.request.subject.policyReference, .bytes(count: AuthToken.digestBytes)))
        return Self(
            userID: userID,
            request: KeyApprovalRequest(
                storeID: storeID, rule: rule, subject: subject,
                nonce: try map.field(7, \.request.nonce, .bytes(limit: 64)),
                tokens: try map.field(
                    8, \.request.tokens,
                    .list(of: .bytes(count: AuthToken.digestBytes), limit: Limits.approvalTokens))))
    }
}

extension KeyBinding: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            authority: try map.field(0, \.authority, .bytes(count: 65)),
            reference: try map.field(1, \.reference, .bytes(count: AuthToken.digestBytes)))
    }
}

extension KeyApproval: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            expirySeconds: try map.field(0, \.expirySeconds),
            signature: try map.field(1, \.signature, .bytes(count: 64)))
    }
}

extension AuthorityReply.Grant: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            token: try map.field(0, \.token),
            entered: try map.optional(1, \.entered, .secret(limit: Limits.recoveryCodeBytes)),
            passcodeID: try map.field(2, \.passcodeID, .bytes(limit: AuthToken.identifierBytes)))
    }
}

extension StoreCall.Welcome: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            version: try map.field(0, \.version),
            connection: try map.field(1, \.connection, .bytes(count: AuthToken.identifierBytes)),
            key: try map.field(2, \.key, .secret(limit: 32)))
    }
}

extension StoreCall.Adopt: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), set: try map.optional(1, \.set, EnrolmentShape()))
    }
}

extension StoreCall.Open: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            slotKey: try map.field(1, \.slotKey, .secret(limit: 32)),
            passcodeID: try map.field(2, \.passcodeID, .bytes(count: AuthToken.identifierBytes)))
    }
}

extension StoreCall.Counted: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), counters: try map.field(1, \.counters))
    }
}

extension TPMBytes: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(try map.field(0, \.bytes, .bytes(limit: Self.limit)))
    }
}

extension PolicyCounters: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            biometryFailures: try map.field(0, \.biometryFailures, CountShape()),
            passcodeFailures: try map.field(1, \.passcodeFailures, CountShape()),
            passcodeBlockedUntil: try map.field(2, \.passcodeBlockedUntil),
            lastPasscode: try map.optional(3, \.lastPasscode),
            lastBiometry: try map.optional(4, \.lastBiometry))
    }
}

/// A count of tries, between 0 and 1,000,000, so that no computation with it can overflow.
private struct CountShape: WireShape {
    func write(_ value: Int, to writer: inout CBORWriter) { writer.unsigned(UInt64(min(max(value, 0), 1_000_000))) }

    func read(from reader: inout CBORReader) throws(WireError) -> Int {
        guard let count = Int(exactly: try reader.unsigned()), count <= 1_000_000 else { throw .invalidValue }
        return count
    }
}

extension AuthorityState: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            sensor: try map.field(1, \.sensor),
            isPasscodeSet: try map.field(2, \.isPasscodeSet),
            counters: try map.field(3, \.counters),
            isLocked: try map.field(4, \.isLocked),
            isInBackground: try map.field(5, \.isInBackground),
            biometricUnlock: try map.optional(6, \.biometricUnlock),
            facePermissions: try map.field(7, \.facePermissions, .list(limit: Limits.facePermissions)),
            prompt: try map.optional(8, \.prompt))
    }
}

extension SensorState: WireMap {
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            kind: try map.field(0, \.kind),
            enrolment: try map.optional(1, \.enrolment, EnrolmentShape()),
            reportsEnrolmentChanges: try map.field(2, \.reportsEnrolmentChanges))
    }
}
