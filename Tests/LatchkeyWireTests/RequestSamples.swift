// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Testing

/// A message with the name of its golden vector.
struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let message: Message
    var testDescription: String { name }

    init(_ name: String, _ message: Message) {
        self.name = name
        self.message = message
    }

    init(_ name: String, id: UInt64 = 1, _ request: Request) { self.init(name, .request(id: id, request)) }

    init(_ name: String, id: UInt64 = 1, _ reply: Reply) { self.init(name, .reply(id: id, reply)) }

    /// Every message with a golden vector.
    static let all = cancels + requests + itemRequests + replies + enclave + migration + secrets

    /// Ids at both ends of each length of an integer's head.
    static let cancels = [0, 23, 24, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, UInt64.max].map {
        Sample("cancel-\($0)", .cancel(id: $0))
    }

    static let handle = ContextHandle(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)

    static let requests = [
        Sample("hello", .hello(Request.Hello(application: "com.example.notes"))),
        Sample("hello-groups", .hello(Request.Hello(application: "notes", groups: ["team.notes", "team.shared"]))),
        Sample("hello-face", .hello(Request.Hello(application: "notes", faceUsage: "Opens your notes."))),
        Sample("face-permissions", .facePermissions),
        Sample(
            "face-permission-revoke",
            .changeFacePermission(Request.FacePermissionChange(application: "notes", mayAskAgain: false))),
        Sample(
            "face-permission-forget",
            .changeFacePermission(Request.FacePermissionChange(application: "notes", mayAskAgain: true))),
        Sample("simulate-permission-allow", .simulate(.permission(true))),
        Sample("simulate-permission-deny", .simulate(.permission(false))),
        Sample("simulate-fail", .simulate(.fail(.sensor))),
        Sample("simulate-accept-any", .simulate(.acceptAnyPasscode(true))),
        Sample("simulate-restart", .simulate(.restart)),
        Sample("simulate-cancel", .simulate(.cancel)),
        Sample("simulate-fallback", .simulate(.fallback)),
        Sample("simulate-enter", .simulate(.enter(SecretBytes("1234".utf8)))),
        Sample("simulate-acknowledge-code", .simulate(.acknowledgeCode)),
        Sample("simulate-enter-code", .simulate(.enterCode(SecretBytes("AB".utf8)))),
        Sample("simulate-choose", .simulate(.choose(.always))),
        Sample("simulate-tell-code", .simulate(.reportCode)),
        Sample("simulate-guide", .simulate(.guide(.swipeTooShort))),
        Sample("simulate-unplug", .simulate(.unplug)),
        Sample("simulate-enter-new-passcode", .simulate(.enterNewPasscode(SecretBytes("1234".utf8)))),
        Sample("transcript", .transcript),
        Sample("lock", .lock),
        Sample("export-items", .exportItems(Request.ExportItems(cursor: nil))),
        Sample("export-items-next", .exportItems(Request.ExportItems(cursor: handle.bytes))),
        Sample("import-items", .importItems(Request.ImportItems(cursor: nil, bytes: [1, 2, 3], isLast: true))),
        Sample(
            "import-items-next",
            .importItems(Request.ImportItems(cursor: handle.bytes, bytes: [7], isLast: false))),
        Sample("unlock", .unlock(Prompting())),
        Sample("log", .log(Request.Log(after: 0, limit: 1024, verifies: false))),
        Sample("log-verified", .log(Request.Log(after: 1024, limit: 1, verifies: true))),
        Sample("check", .check),
        Sample("restore-rows", .restoreRows),
        Sample("accept-store", .acceptStore),
        Sample("discard-protected", .discardProtected),
        Sample("discard-forgotten", .discardForgotten),
        Sample("list-everything", .listEverything),
        Sample("list-names", .listNames),
        Sample("delete-listed", .deleteListed(Request.DeleteListed([1, 2, 3]))),
        Sample("hello-without-name", .hello(Request.Hello(application: ""))),
        Sample("status", .status),
        Sample("create-context", .createContext),
        Sample("invalidate-context", .invalidateContext(handle)),
        Sample("can-evaluate-biometry", .canEvaluate(.deviceOwnerAuthenticationWithBiometrics)),
        Sample("can-evaluate-device-owner", .canEvaluate(.deviceOwnerAuthentication)),
        Sample(
            "evaluate", id: 42,
            .evaluate(
                Request.Evaluate(
                    context: handle, policy: .deviceOwnerAuthentication,
                    prompting: Prompting(reason: "open the d\u{00e9}j\u{00e0} vu note")))),
        Sample(
            "evaluate-with-titles", id: 43,
            .evaluate(
                Request.Evaluate(
                    context: handle, policy: .deviceOwnerAuthenticationWithBiometrics,
                    prompting: Prompting(
                        reason: "sign in", fallbackTitle: "", cancelTitle: "Stop", interactionAllowed: false)))),
        Sample("passcode-set", .passcode(.set(SecretBytes("0000".utf8)))),
        Sample(
            "passcode-change", .passcode(.change(SecretBytes("correct horse".utf8)))
        ),
        Sample("passcode-remove", .passcode(.remove)),
        Sample("passcode-set-at-prompt", .passcode(.setAtPrompt)),
        Sample("passcode-change-at-prompt", .passcode(.changeAtPrompt)),
        Sample("passcode-recover-at-prompt", .passcode(.recoverAtPrompt)),
        Sample("simulate-sensor-none", .simulate(.sensor(.none))),
        Sample("simulate-sensor-touch", .simulate(.sensor(.touchID))),
        Sample("simulate-sensor-face", .simulate(.sensor(.faceID))),
        Sample("simulate-sensor-optic", .simulate(.sensor(.opticID))),
        Sample("simulate-enroll", .simulate(.enroll)),
        Sample("simulate-unenroll", .simulate(.unenroll)),
        Sample("simulate-replace-finger", .simulate(.replaceFinger)),
        Sample("simulate-touch-matching", .simulate(.touch(matching: true))),
        Sample("simulate-touch-other", .simulate(.touch(matching: false))),
        Sample("simulate-look-matching", .simulate(.look(matching: true))),
        Sample("simulate-look-other", .simulate(.look(matching: false))),
        Sample("simulate-answer-by-rule", .simulate(.answer(.byRule))),
        Sample("simulate-answer-always", .simulate(.answer(.always))),
        Sample("simulate-answer-never", .simulate(.answer(.never))),
        Sample("simulate-advance", .simulate(.advance(seconds: 172_800))),
        Sample("simulate-reset", .simulate(.reset)),
        Sample("simulate-lock", .simulate(.lock)),
        Sample("simulate-unlock-finger", .simulate(.unlock(byBiometry: true))),
        Sample("simulate-unlock-passcode", .simulate(.unlock(byBiometry: false))),
        Sample("simulate-background", .simulate(.background(true))),
        Sample("simulate-foreground", .simulate(.background(false))),
        Sample(
            "evaluate-with-reuse", id: 44,
            .evaluate(
                Request.Evaluate(
                    context: handle, policy: .deviceOwnerAuthenticationWithBiometrics,
                    prompting: Prompting(reason: "go on"), reuseSeconds: 300))),
        Sample(
            "evaluate-rule", id: 45,
            .evaluateAccessControl(
                Request.EvaluateAccessControl(
                    context: handle,
                    accessControl: AccessControl(
                        accessibility: .whenUnlocked, constraints: [.biometryAny, .and, .devicePasscode]),
                    prompting: Prompting(reason: "sign")))),
        Sample(
            "evaluate-rule-with-reuse", id: 46,
            .evaluateAccessControl(
                Request.EvaluateAccessControl(
                    context: handle,
                    accessControl: AccessControl(
                        accessibility: .whenUnlocked, constraints: [.biometryAny, .and, .devicePasscode]),
                    prompting: Prompting(reason: "sign"), reuseSeconds: 10))),
        Sample("environment", .environment(unlike: nil)),
        Sample("environment-unlike", .environment(unlike: 7)),
    ]
}

extension ContextHandle {
    init(high: UInt64, low: UInt64) {
        let bytes = [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        guard let handle = ContextHandle(bytes) else { preconditionFailure("16 bytes make a handle") }
        self = handle
    }
}
