// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Sample {
    static let replies = [
        Sample(
            "failure", .failure(Failure(.biometryLockout, "too many failed tries", hint: "enter the passcode once"))),
        Sample("failure-without-text", .failure(Failure(.malformedRequest))),
        Sample("failure-with-values", .failure(Failure(.storeUnreadable, "\("/a") is not \(1)."))),
        Sample("done", id: 4_294_967_296, .done),
        Sample("welcome", .welcome(Reply.Welcome(tier: .user, processID: 4711))),
        Sample("welcome-negative", .welcome(Reply.Welcome(tier: .simulated, processID: .min))),
        Sample(
            "status-report",
            .status(
                StatusReport(
                    tier: .user, processID: .max, storePath: "/home/ada/.local/share/latchkey", itemCount: 100_000,
                    biometry: .none, isEnrolled: false, isPasscodeSet: true, isBiometryLocked: false,
                    accessGroup: "com.example.notes", problem: nil))),
        Sample(
            "status-report-with-problem",
            .status(
                StatusReport(
                    tier: .simulated, processID: 1, storePath: "", itemCount: 0, biometry: .faceID, isEnrolled: true,
                    isPasscodeSet: false, isBiometryLocked: true, isLocked: true, accessGroup: "",
                    problem: Failure(.storeNewer, "the store is of version 9", hint: "update Latchkey")))),
        Sample(
            "status-report-with-quarantine",
            .status(
                StatusReport(
                    tier: .user, processID: 1, storePath: "/", itemCount: 1, biometry: .none, isEnrolled: false,
                    isPasscodeSet: false, isBiometryLocked: false, accessGroup: "notes", problem: nil,
                    quarantineCount: 2))),
        Sample(
            "status-report-with-unlocked-memory",
            .status(
                StatusReport(
                    tier: .user, processID: 1, storePath: "/", itemCount: 1, biometry: .none, isEnrolled: false,
                    isPasscodeSet: false, isBiometryLocked: false, accessGroup: "notes", problem: nil,
                    unlockedMemory: "no memory"))),
        Sample(
            "status-report-with-problem-of-the-device",
            .status(
                StatusReport(
                    tier: .tpm, processID: 1, storePath: "/", itemCount: 1, biometry: .none, isEnrolled: false,
                    isPasscodeSet: false, isBiometryLocked: false, accessGroup: "notes", problem: nil, enclave: .tpm,
                    enclaveDevice: .chip, deviceProblem: Failure(.enclaveUnavailable, "wrong", hint: "mend it")))),
        Sample(
            "status-report-with-kind-of-passcode",
            .status(
                StatusReport(
                    tier: .tpm, processID: 1, storePath: "/", itemCount: 1, biometry: .none, isEnrolled: false,
                    isPasscodeSet: true, isBiometryLocked: false, accessGroup: "notes", problem: nil,
                    passcodeKind: .account))),
        Sample(
            "status-report-with-prompt",
            .status(
                StatusReport(
                    tier: .user, processID: 1, storePath: "/", itemCount: 1, biometry: .none, isEnrolled: false,
                    isPasscodeSet: true, isBiometryLocked: false, accessGroup: "notes", problem: nil,
                    prompts: [StatusReport.ShownPrompt(program: "mail", processID: 4711, session: "c2")],
                    session: "c1"))),
        Sample("log-page-empty", .log(AuditPage(lines: [], last: 0))),
        Sample(
            "log-page",
            .log(
                AuditPage(
                    lines: [
                        AuditLine(
                            sequence: 7, time: 1_767_225_600_000_000, event: .used, item: Array(0..<16),
                            caller: "notes", processID: 4711, ground: .allowed([.finger, .passcode])),
                        AuditLine(sequence: 8),
                        AuditLine(
                            sequence: 9, time: 1, event: .refused, caller: "notes", processID: 1,
                            ground: .refused(.locked)),
                    ], last: 9, finding: Finding(.entryChanged, number: 8)))),
        Sample("check-report-part", .check(CheckReport(more: true, done: 256, total: 1000, findings: []))),
        Sample(
            "check-report",
            .check(
                CheckReport(
                    more: false, done: 3, total: 3,
                    findings: [
                        Finding(.database, words: "row 1 missing from index item_key"),
                        Finding(.secretDamaged, number: 2, item: Array(0..<16)),
                    ]))),
        Sample("context", .context(handle)),
        Sample("items-none", .items([], more: false)),
        Sample("items-listed", .items([FoundItem(itemClass: .key, isLostWithPasscode: true)], more: false)),
        Sample(
            "items-two", id: 6,
            .items(
                [
                    FoundItem(itemClass: .genericPassword),
                    FoundItem(
                        itemClass: .genericPassword, attributes: everyAttribute,
                        accessControl: AccessControl(accessibility: .always, constraints: [.userPresence]),
                        secret: SecretBytes("hunter2".utf8), persistentReference: Array(0..<34)),
                ], more: true)),
        Sample("policy-allowed", .policy(Reply.PolicyAnswer(refusal: nil, biometry: .touchID))),
        Sample(
            "policy-refused",
            .policy(Reply.PolicyAnswer(refusal: Failure(.biometryNotEnrolled, "no finger"), biometry: .opticID))),
        Sample(
            "environment-report",
            .environment(
                EnvironmentReport(
                    biometry: .touchID, isEnrolled: true, isLockedOut: false, isBiometryUsable: true,
                    biometryHash: [UInt8](repeating: 7, count: 32), isPasscodeSet: true,
                    revision: 3))),
        Sample(
            "environment-report-empty",
            .environment(
                EnvironmentReport(
                    biometry: .none, isEnrolled: false, isLockedOut: false, isBiometryUsable: false, biometryHash: nil,
                    isPasscodeSet: false, revision: 0))),
        Sample("face-permissions-none", .facePermissions([])),
        Sample(
            "face-permissions-two",
            .facePermissions([
                FacePermission(application: "bank", isAllowed: false),
                FacePermission(application: "notes", isAllowed: true),
            ])),
        Sample(
            "exported-page",
            .exported(
                Reply.Exported(
                    bytes: [1, 2], count: 3,
                    skipped: SkippedItems(
                        named: [
                            SkippedItem(
                                itemClass: .genericPassword, group: "a", account: "b", service: "c", label: "d",
                                reason: .boundRule)
                        ], count: 1),
                    cursor: Array(0..<16)))),
        Sample("exported-end", .exported(Reply.Exported(bytes: [], count: 0, skipped: SkippedItems(), cursor: nil))),
        Sample(
            "imported-verified",
            .imported(
                Reply.Imported(wantsStart: true, added: 0, present: 0, skipped: SkippedItems(), cursor: Array(0..<16)))),
        Sample(
            "imported-end",
            .imported(
                Reply.Imported(wantsStart: false, added: 2, present: 1, skipped: SkippedItems(), cursor: nil))),
        Sample("transcript-lines", .transcript(["0 s  app asks"])),
        Sample("proven-by-two", .proven([.passcode, .biometry])),
        Sample("recovered", .recovered(Reply.Recovered())),
        Sample(
            "recovered-on-another-tpm",
            .recovered(
                Reply.Recovered(
                    accepted: Failure(.tpmReplaced, "gone", hint: ""),
                    lost: SkippedItems(
                        named: [
                            SkippedItem(
                                itemClass: .genericPassword, group: "notes", account: "ada", service: "mail",
                                label: "", reason: .otherTPM)
                        ], count: 1)))),
        Sample(
            "recovered-on-the-same-tpm",
            .recovered(
                Reply.Recovered(
                    lost: SkippedItems(
                        named: [
                            SkippedItem(
                                itemClass: .key, group: "notes", account: "", service: "", label: "signing",
                                reason: .earlierPasscode)
                        ], count: 1)))),
        Sample("simulated-delivered", .simulated(delivered: true)),
        Sample("simulated-not-delivered", .simulated(delivered: false)),
    ]
}
