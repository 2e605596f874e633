// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

// The fields of the messages between `latchkeyd` and `latchkey-authd`.

extension ProcessName: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            processID: try tuple.field(0, \.processID),
            startTime: try tuple.field(1, \.startTime),
            userID: try tuple.field(2, \.userID))
    }
}

extension ProgramIdentity: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            label: try map.field(0, \.label, .text(limit: Limits.titleBytes)),
            program: try map.field(1, \.program, .text(limit: Limits.titleBytes)),
            application: try map.field(2, \.application, .text(limit: Limits.titleBytes)),
            groups: try map.field(3, \.groups, .list(of: .text(limit: Limits.titleBytes), limit: Limits.accessGroups)),
            strength: try map.field(4, \.strength),
            terminal: try map.field(5, \.terminal),
            session: try map.field(6, \.session, .text(limit: Limits.applicationBytes)),
            execution: try map.field(7, \.execution, .unsigned),
            executable: try map.field(8, \.executable, .text(limit: Limits.titleBytes), omitting: ""),
            sandbox: try map.optional(9, \.sandbox))
    }
}

extension SandboxedApp: WireValue {
    package func write(to writer: inout CBORWriter) { writer.text(owner) }

    package init(from reader: inout CBORReader) throws(WireError) {
        guard let app = Self(owner: try reader.text(limit: Limits.titleBytes)) else { throw .invalidValue }
        self = app
    }
}

extension AuthorityCall.Attach: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            isPasscodeSet: try map.field(1, \.isPasscodeSet),
            isLocked: try map.field(2, \.isLocked),
            recoveryCopy: try map.field(3, \.recoveryCopy, .bytes(limit: Limits.recoveryCopyBytes)))
    }
}

extension AuthenticationRequest: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
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
            keyUses: try map.field(10, \.keyUses),
            acceptsWeak: try map.field(11, \.acceptsWeak),
            startedBy: try map.field(12, \.startedBy, .text(limit: Limits.titleBytes), omitting: ""))
    }
}

/// The stages of a plan, each with its methods in ascending order; no method completes an empty stage.
private struct PlanShape: WireShape {
    /// Maximum stages of a plan; an access control gives at most three.
    private static let stages = 8

    func write(_ value: AuthenticationPlan, to writer: inout CBORWriter) {
        ListShape(item: MethodsShape(), limit: Self.stages).write(value.stages, to: &writer)
    }

    func read(from reader: inout CBORReader) throws(WireError) -> AuthenticationPlan {
        AuthenticationPlan(try ListShape(item: MethodsShape(), limit: Self.stages).read(from: &reader))
    }
}

extension AuthorityCall.Withdraw: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(evaluation: try map.field(0, \.evaluation), status: try map.field(1, \.status))
    }
}

extension AuthorityCall.Change: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), kind: try map.field(1, \.kind))
    }
}

extension AuthorityCall.SetFacePermission: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            application: try map.field(1, \.application, .text(limit: Limits.applicationBytes)),
            isAllowed: try map.optional(2, \.isAllowed))
    }
}

extension AuthorityCall.BindKey: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            storeID: try map.field(1, \.storeID, .bytes(count: AuthToken.identifierBytes)),
            accessControl: try map.field(2, \.accessControl))
    }
}

extension AuthorityCall.Approve: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        let userID = try map.field(0, \.userID)
        let storeID = try map.field(1, \.request.storeID, .bytes(count: AuthToken.identifierBytes))
        let accessControl = try map.field(2, \.request.accessControl)
        var subject = ApprovalSubject(
            keyName: try map.field(3, \.request.subject.keyName, .bytes(limit: 64)),
            command: try map.field(4, \.request.subject.command),
            parameters: try map.field(5, \.request.subject.parameters, .bytes(limit: 512)),
            policyReference: try map.field(
                6, \.request.subject.policyReference, .bytes(count: AuthToken.digestBytes)))
        let nonce = try map.field(7, \.request.nonce, .bytes(limit: 64))
        let tokens = try map.field(
            8, \.request.tokens, .list(of: .bytes(count: AuthToken.digestBytes), limit: Limits.approvalTokens))
        subject.passcode = try map.optional(9, \.request.subject.passcode)
        let session = try map.field(10, \.request.session)
        return Self(
            userID: userID,
            request: KeyApprovalRequest(
                storeID: storeID, accessControl: accessControl, subject: subject, nonce: nonce, session: session,
                tokens: tokens))
    }
}

extension KeyBinding: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            authority: try map.field(0, \.authority, .bytes(count: 65)),
            reference: try map.field(1, \.reference, .bytes(count: AuthToken.digestBytes)),
            passcode: try map.optional(2, \.passcode))
    }
}

extension PasscodeDemand: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            try map.field(0, \.part),
            verifier: try map.field(1, \.verifier, .bytes(count: PasscodeDemand.verifierBytes)))
    }
}

extension KeyApproval: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            expirySeconds: try map.field(0, \.expirySeconds),
            signature: try map.field(1, \.signature, .bytes(limit: 64)),
            isPasscodeProven: try map.field(2, \.isPasscodeProven))
    }
}

extension AuthenticationGrant: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(token: try map.field(0, \.token), entered: try map.optional(1, \.entered, EnteredShape()))
    }
}

/// `[0, text]`, or `[1, slot]` for a new passcode.
private struct EnteredShape: WireShape {
    private struct Slot: WireMap {
        var key: SecretBytes
        var passcodeID: [UInt8]
        var recovery: RecoveryGrant?

        static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
            Self(
                key: try map.field(0, \.key, .secret(limit: 32)),
                passcodeID: try map.field(1, \.passcodeID, .bytes(count: AuthToken.identifierBytes)),
                recovery: try map.optional(2, \.recovery))
        }
    }
    private static let text = SecretShape(limit: Limits.recoveryCodeBytes)

    func write(_ value: AuthenticationGrant.Entered, to writer: inout CBORWriter) {
        switch value {
        case .text(let text): writer.message(0, text, Self.text)
        case .slotKey(let key, let passcodeID, let recovery):
            writer.message(1, Slot(key: key, passcodeID: passcodeID, recovery: recovery), OwnShape())
        }
    }

    func read(from reader: inout CBORReader) throws(WireError) -> AuthenticationGrant.Entered {
        try reader.message { (reader, kind) throws(WireError) in
            switch kind {
            case 0: return .text(try reader.value(Self.text))
            case 1:
                let slot: Slot = try reader.value()
                return .slotKey(slot.key, passcodeID: slot.passcodeID, recovery: slot.recovery)
            default: throw .invalidValue
            }
        }
    }
}

extension RecoveryGrant: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            rootKey: try map.optional(0, \.rootKey, .secret(limit: 32)),
            replacement: try map.field(1, \.replacement, .secret(limit: 32)),
            slotKeys: try map.field(2, \.slotKeys, .list(of: .secret(limit: 32), limit: Self.slotKeys)))
    }
}

extension StoreCall.Welcome: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            version: try map.field(0, \.version),
            connection: try map.field(1, \.connection, .bytes(count: AuthToken.identifierBytes)),
            key: try map.field(2, \.key, .secret(limit: 32)))
    }
}

extension StoreCall.Adopt: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), set: try map.optional(1, \.set, EnrolmentShape()))
    }
}

extension StoreCall.Open: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            slotKey: try map.field(1, \.slotKey, .secret(limit: 32)),
            passcodeID: try map.field(2, \.passcodeID, .bytes(count: AuthToken.identifierBytes)))
    }
}

extension StoreCall.TryRecovery: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), rootKey: try map.field(1, \.rootKey, .secret(limit: 32)))
    }
}

extension StoreCall.TryFailed: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            challenge: try map.field(1, \.challenge, .bytes(count: AuthToken.digestBytes)),
            proof: try map.field(2, \.proof))
    }
}

extension StoreCall.StoreRecoveryCopy: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            copy: try map.field(1, \.copy, .bytes(limit: Limits.recoveryCopyBytes)))
    }
}

extension StoreCall.Counted: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), counters: try map.field(1, \.counters))
    }
}

extension TPMBytes: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(try map.field(0, \.bytes, .bytes(limit: Self.limit)))
    }
}

extension PolicyCounters: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            biometryFailures: try map.field(0, \.biometryFailures, CountShape()),
            passcodeFailures: try map.field(1, \.passcodeFailures, CountShape()),
            passcodeBlockedUntil: try map.field(2, \.passcodeBlockedUntil),
            lastPasscode: try map.optional(3, \.lastPasscode),
            lastBiometry: try map.optional(4, \.lastBiometry))
    }
}

/// A count of tries, between 0 and 1,000,000, so that no computation with it can overflow.
struct CountShape: WireShape {
    func write(_ value: Int, to writer: inout CBORWriter) { writer.unsigned(UInt64(min(max(value, 0), 1_000_000))) }

    func read(from reader: inout CBORReader) throws(WireError) -> Int {
        guard let count = Int(exactly: try reader.unsigned()), count <= 1_000_000 else { throw .invalidValue }
        return count
    }
}

extension StoreCall.State: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            userID: try map.field(0, \.userID),
            authority: try map.field(1, \.authority),
            prompts: try map.field(2, \.prompts, .list(limit: Limits.shownPrompts), omitting: []),
            passcodeKind: try map.optional(3, \.passcodeKind))
    }
}

extension AuthorityState: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            sensor: try map.field(0, \.sensor),
            isPasscodeSet: try map.field(1, \.isPasscodeSet),
            counters: try map.field(2, \.counters),
            isLocked: try map.field(3, \.isLocked),
            isInBackground: try map.field(4, \.isInBackground),
            biometricUnlock: try map.optional(5, \.biometricUnlock),
            facePermissions: try map.field(6, \.facePermissions, PermissionsShape()),
            biometrySessions: try map.field(7, \.biometrySessions, SessionsShape()))
    }
}

/// The decisions about apps, in ascending order of the apps; those of the first apps if there are too many.
private struct PermissionsShape: WireShape {
    private let list = ListShape(item: OwnShape<FacePermission>(), limit: Limits.facePermissions)

    func write(_ value: [String: Bool], to writer: inout CBORWriter) {
        let sorted = value.sorted { $0.key < $1.key }.prefix(Limits.facePermissions)
        list.write(sorted.map { FacePermission(application: $0.key, isAllowed: $0.value) }, to: &writer)
    }

    func read(from reader: inout CBORReader) throws(WireError) -> [String: Bool] {
        let found = try list.read(from: &reader)
        guard zip(found, found.dropFirst()).allSatisfy({ $0.application < $1.application }) else { throw .notCanonical }
        return found.reduce(into: [:]) { $0[$1.application] = $1.isAllowed }
    }
}

/// `true` for every session, otherwise the identifiers of the sessions in ascending order.
package struct SessionsShape: WireShape {
    private let identifiers = ListShape(item: TextShape(limit: Limits.applicationBytes), limit: Limits.loginSessions)

    package init() {}

    package func write(_ value: BiometrySessions, to writer: inout CBORWriter) {
        switch value {
        case .every: true.write(to: &writer)
        case .only(let sessions): identifiers.write(sessions.sorted(), to: &writer)
        }
    }

    package func read(from reader: inout CBORReader) throws(WireError) -> BiometrySessions {
        guard reader.isAtArray else {
            guard try reader.boolean() else { throw .invalidValue }
            return .every
        }
        let sessions = try identifiers.read(from: &reader)
        guard zip(sessions, sessions.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .notCanonical }
        return .only(Set(sessions))
    }
}

extension StoreCall.SessionLock: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), isLocked: try map.field(1, \.isLocked))
    }
}

extension StoreCall.Refused: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(userID: try map.field(0, \.userID), source: try map.field(1, \.source), count: try map.field(2, \.count))
    }
}

extension SensorState: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            kind: try map.field(0, \.kind),
            enrolment: try map.optional(1, \.enrolment, EnrolmentShape()),
            reportsEnrolmentChanges: try map.field(2, \.reportsEnrolmentChanges),
            isWeak: try map.field(3, \.isWeak),
            isVirtual: try map.field(4, \.isVirtual, omitting: false))
    }
}
