// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

typealias ServiceSample = WireSample<ServiceMessage>

extension ServiceMessage: WireMessage {
    package static let vectors = ["services"]
}

extension ServiceSample {
    fileprivate init(_ name: String, call: AuthorityCall) { self.init(name, .authorityCall(1, call)) }
    fileprivate init(_ name: String, reply: AuthorityReply) { self.init(name, .authorityReply(1, reply)) }
    fileprivate init(_ name: String, store: StoreCall) { self.init(name, .storeCall(0, store)) }
    fileprivate init(_ name: String, answer: StoreReply) { self.init(name, .storeReply(2, answer)) }
}

/// The messages between `latchkeyd` and `latchkey-authd`.
private enum Samples {
    private static func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }
    private static let process = ProcessName(processID: 77, startTime: 1234, userID: 1000)

    private static let token: AuthToken = {
        var token = AuthToken(
            connection: bytes(1, 16), challenge: bytes(2, 32), userID: 1000, passcodeID: bytes(3, 16), purpose: .app,
            binding: bytes(4, 32), methods: [.biometry, .passcode], strength: .strong, isVirtual: true,
            enrolment: EnrolmentSet([5]), bootID: [6], issued: 7, expires: 8)
        token.code = bytes(9, 32)
        return token
    }()

    private static let identity = ProgramIdentity(
        label: "notes", program: "/usr/bin/notes", application: "org.example.notes",
        groups: ["org.example.notes", "org.example.shared"], strength: .program, terminal: 34_816, session: "2",
        execution: 5)

    private static let counters = PolicyCounters(
        biometryFailures: 1, passcodeFailures: 2, passcodeBlockedUntil: 3, lastPasscode: 4, lastBiometry: nil)

    static let all: [ServiceSample] = [
        ServiceSample("service-identify", call: .identify(process)),
        ServiceSample(
            "service-attach", call: .attach(AuthorityCall.Attach(userID: 1000, isPasscodeSet: true, isLocked: false))),
        ServiceSample(
            "service-evaluate",
            call: .evaluate(
                AuthenticationRequest(
                    plan: AuthenticationPlan([[.passcode], [.biometry], []]), process: process,
                    faceUsage: "why", prompting: Prompting(reason: "open"), purpose: .exportItems,
                    lastStep: .showsRecoveryCode, recoveryCode: SecretBytes("AB".utf8), reuseSeconds: 10,
                    challenge: bytes(2, 32), binding: bytes(4, 32)))),
        ServiceSample(
            "service-evaluate-answer",
            call: .evaluate(
                AuthenticationRequest(
                    plan: AuthenticationPlan([]), process: process, prompting: Prompting(reason: "mail"),
                    purpose: .readSecret, lastStep: .asksAnswer, challenge: bytes(2, 32), binding: bytes(4, 32),
                    startedBy: "bash ← claude"))),
        ServiceSample(
            "service-withdraw", call: .withdraw(AuthorityCall.Withdraw(evaluation: 9, status: .appCancel))),
        ServiceSample(
            "service-change", call: .change(AuthorityCall.Change(userID: 1000, kind: .passcodeCommitted))),
        ServiceSample(
            "service-face",
            call: .setFacePermission(
                AuthorityCall.SetFacePermission(userID: 1000, application: "notes", isAllowed: false))),
        ServiceSample(
            "service-bind-key",
            call: .bindKey(
                AuthorityCall.BindKey(
                    userID: 1000, storeID: bytes(7, 16),
                    accessControl: AccessControl(
                        accessibility: .whenUnlockedThisDeviceOnly, constraints: [.biometryAny, .privateKeyUsage])))),
        ServiceSample(
            "service-approve",
            call: .approve(
                AuthorityCall.Approve(
                    userID: 1000,
                    request: KeyApprovalRequest(
                        storeID: bytes(7, 16),
                        accessControl: AccessControl(
                            accessibility: .whenUnlockedThisDeviceOnly, constraints: [.userPresence, .privateKeyUsage]),
                        subject: ApprovalSubject(
                            keyName: bytes(1, 34), command: 0x15d, parameters: [1, 2], policyReference: bytes(3, 32)),
                        nonce: bytes(4, 16), tokens: [bytes(5, 32)])))),
        ServiceSample(
            "service-approve-passcode",
            call: .approve(
                AuthorityCall.Approve(
                    userID: 1000,
                    request: KeyApprovalRequest(
                        storeID: bytes(7, 16),
                        accessControl: AccessControl(
                            accessibility: .whenUnlockedThisDeviceOnly,
                            constraints: [.devicePasscode, .privateKeyUsage]),
                        subject: ApprovalSubject(
                            keyName: bytes(1, 34), command: 0x15d, parameters: [1, 2], policyReference: bytes(3, 32),
                            passcode: PasscodeDemand(.alone, verifier: bytes(8, 34))),
                        nonce: bytes(4, 16), session: 0x0300_0001, tokens: [bytes(5, 32)])))),
        ServiceSample(
            "service-key-binding",
            reply: .keyBinding(KeyBinding(authority: bytes(4, 65), reference: bytes(3, 32)))),
        ServiceSample(
            "service-key-binding-passcode",
            reply: .keyBinding(
                KeyBinding(
                    authority: bytes(4, 65), reference: bytes(3, 32),
                    passcode: PasscodeDemand(.both, verifier: bytes(8, 34))))),
        ServiceSample(
            "service-approved",
            reply: .approved(KeyApproval(expirySeconds: 60, signature: bytes(6, 64)))),
        ServiceSample(
            "service-approved-passcode",
            reply: .approved(KeyApproval(expirySeconds: 60, signature: [], isPasscodeProven: true))),
        ServiceSample("service-done", reply: .done),
        ServiceSample("service-failure", reply: .failure(Failure(.notPermitted, "no", hint: "yes"))),
        ServiceSample("service-identity", reply: .identity(identity)),
        ServiceSample(
            "service-identity-undetermined",
            reply: .identity(
                ProgramIdentity(
                    label: "A program", program: "", application: "user:1000", groups: ["user:1000"],
                    strength: .user, terminal: 0, session: "", executable: "/usr/bin/dash"))),
        ServiceSample(
            "service-identity-sandbox",
            reply: .identity(
                ProgramIdentity(
                    label: "A program", program: "", application: "user:1000", groups: ["user:1000"],
                    strength: .user, terminal: 0, session: "",
                    sandbox: SandboxedApp(owner: "flatpak:org.example.App")))),
        ServiceSample("service-granted", reply: .granted(AuthenticationGrant(token: token))),
        ServiceSample(
            "service-granted-new-passcode",
            reply: .granted(
                AuthenticationGrant(
                    token: token, entered: .slotKey(SecretBytes(bytes(7, 32)), passcodeID: bytes(3, 16))))),
        ServiceSample(
            "service-granted-text",
            reply: .granted(AuthenticationGrant(token: token, entered: .text(SecretBytes("AB".utf8))))),
        ServiceSample("service-denied", reply: .failure(Failure(.userCancel))),
        ServiceSample(
            "service-welcome",
            store: .welcome(StoreCall.Welcome(version: 2, connection: bytes(1, 16), key: SecretBytes(bytes(8, 32))))),
        ServiceSample(
            "service-state",
            store: .state(
                StoreCall.State(
                    userID: 1000,
                    authority: AuthorityState(
                        sensor: SensorState(kind: .touchID, enrolment: EnrolmentSet([5])), isPasscodeSet: true,
                        counters: counters, biometricUnlock: 6, facePermissions: ["notes": true, "bank": false],
                        biometrySessions: .only(["2", "c1"])),
                    prompts: [StatusReport.ShownPrompt(program: "notes", processID: 77, session: "2")],
                    passcodeKind: .account))),
        ServiceSample(
            "service-state-every-session",
            store: .state(
                StoreCall.State(
                    userID: 1000,
                    authority: AuthorityState(
                        sensor: .absent, isPasscodeSet: false, counters: counters, isLocked: true, isInBackground: true),
                    prompts: [], passcodeKind: nil))),
        ServiceSample(
            "service-session-lock",
            store: .sessionLock(StoreCall.SessionLock(userID: 1000, isLocked: true))),
        ServiceSample(
            "service-refused",
            store: .refused(StoreCall.Refused(userID: 1000, source: .sessions, count: 3))),
        ServiceSample(
            "service-keep-recovery-copy",
            store: .storeRecoveryCopy(StoreCall.StoreRecoveryCopy(userID: 1000, copy: bytes(6, 3)))),
        ServiceSample("service-adopt", store: .adopt(StoreCall.Adopt(userID: 1000, set: EnrolmentSet([5])))),
        ServiceSample(
            "service-open",
            store: .open(
                StoreCall.Open(userID: 1000, slotKey: SecretBytes(bytes(7, 32)), passcodeID: bytes(3, 16)))),
        ServiceSample("service-counted", store: .counted(StoreCall.Counted(userID: 1000, counters: counters))),
        ServiceSample(
            "service-replace-slot",
            store: .replaceSlot(
                StoreCall.Open(userID: 1000, slotKey: SecretBytes(bytes(7, 32)), passcodeID: bytes(3, 16)))),
        ServiceSample("service-counters-lost", store: .countersWereLost(userID: 1000)),
        ServiceSample("service-carry", store: .carry(TPMBytes([0x80, 1]))),
        ServiceSample("service-carry-proof", store: .carryProof(TPMBytes([0x80, 1]))),
        ServiceSample("service-carry-preparation", store: .carryPreparation(TPMBytes([0x80, 1]))),
        ServiceSample(
            "service-try-failed",
            store: .tryFailed(StoreCall.TryFailed(userID: 1000, challenge: bytes(14, 32), proof: .passcode))),
        ServiceSample(
            "service-granted-recovery",
            reply: .granted(
                AuthenticationGrant(
                    token: token,
                    entered: .slotKey(
                        SecretBytes(bytes(7, 32)), passcodeID: bytes(3, 16),
                        recovery: RecoveryGrant(
                            rootKey: SecretBytes(bytes(10, 32)), replacement: SecretBytes(bytes(11, 32)),
                            slotKeys: [SecretBytes(bytes(12, 32))]))))),
        ServiceSample(
            "service-try-recovery",
            store: .tryRecovery(StoreCall.TryRecovery(userID: 1000, rootKey: SecretBytes(bytes(13, 32))))),
        ServiceSample("service-carried", answer: .carried(TPMBytes([0x80, 2]))),
        ServiceSample("service-store-done", answer: .done),
        ServiceSample("service-store-failure", answer: .failure(Failure(.diskFull, "full"))),
        ServiceSample("service-opened", answer: .opened(true)),
    ]
}

/// The messages of the service channel have the bytes of `Tests/Vectors/wire/services.hex`, and no others are read.
@Suite struct ServiceMessageTests {
    @Test func eachVectorHasASample() throws {
        try WireContract.expectOneSampleForEachVector(Samples.all)
    }

    @Test(arguments: Samples.all, WireContract<ServiceMessage>.allCases)
    func eachMessageHasOneEncoding(_ sample: ServiceSample, _ contract: WireContract<ServiceMessage>) throws {
        try contract.check(sample)
    }
}
