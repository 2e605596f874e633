// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Sample {
    private static let point = [UInt8](repeating: 4, count: 65)

    /// Requests and replies about keys of the enclave.
    static let enclave = [
        Sample(
            "create-enclave-key",
            .createEnclaveKey(
                Request.CreateEnclaveKey(
                    attributes: [.label: .text("signing"), .applicationTag: .data([1, 2, 3])],
                    accessControl: AccessControl(
                        accessibility: .whenUnlockedThisDeviceOnly,
                        constraints: [.biometryCurrentSet, .privateKeyUsage]),
                    isPermanent: true, authentication: Authentication()))),
        Sample(
            "create-enclave-key-least",
            .createEnclaveKey(
                Request.CreateEnclaveKey(
                    attributes: [:], accessControl: AccessControl(constraints: .privateKeyUsage), isPermanent: false,
                    authentication: Authentication()))),
        Sample(
            "use-enclave-key-sign",
            .useEnclaveKey(
                Request.UseEnclaveKey(
                    name: .stored([1, 3]), operation: .sign(digest: [UInt8](repeating: 170, count: 32)),
                    authentication: Authentication(context: handle)))),
        Sample(
            "use-enclave-key-for-process",
            .useEnclaveKey(
                Request.UseEnclaveKey(
                    name: .stored([1, 3]), operation: .sign(digest: [170]), authentication: Authentication(),
                    for: ProcessName(processID: 42, startTime: 7, userID: 1000)))),
        Sample(
            "use-enclave-key-agree",
            .useEnclaveKey(
                Request.UseEnclaveKey(
                    name: .detached([9]), operation: .agree(point: point), authentication: Authentication()))),
        Sample("describe-enclave-key", .describeEnclaveKey(.stored([1, 3]))),
        Sample("describe-enclave-key-detached", .describeEnclaveKey(.detached([]))),
        Sample(
            "enclave-key",
            .enclaveKey(
                EnclaveKey(
                    name: .stored([1, 3]), publicKey: point, attributes: [.keyClass: .number(1)],
                    accessControl: AccessControl(constraints: [.userPresence, .privateKeyUsage])))),
        Sample("enclave-result", .enclaveResult(SecretBytes([UInt8](repeating: 7, count: 64)))),
        Sample("begin-enrolment", .beginEnrolment(Request.BeginEnrolment(party: "example.com"))),
        Sample(
            "begin-enrolment-without-prompt",
            .beginEnrolment(Request.BeginEnrolment(party: "example.com", interactionAllowed: false))),
        Sample(
            "answer-enrolment",
            .answerEnrolment(
                Request.AnswerEnrolment(party: "example.com", attestationKey: [4, 5], challenge: [1, 2]))),
        Sample(
            "prove-key",
            .proveKey(
                Request.ProveKey(
                    name: .stored([1, 3]), party: "example.com", attestationKey: [4, 5],
                    nonce: [UInt8](repeating: 9, count: 16), authentication: Authentication(context: handle)))),
        Sample("enrolment", .enrolment(Reply.Enrolment(attestationKey: [4, 5], request: [1, 1]))),
        Sample("attestation-message", .attestationMessage([1, 3, 0, 0])),
        Sample(
            "status-report-with-enclave",
            .status(
                StatusReport(
                    tier: .simulated, processID: 1, storePath: "/", itemCount: 0, biometry: .none, isEnrolled: false,
                    isPasscodeSet: false, isBiometryLocked: false, accessGroup: "notes", problem: nil,
                    enclave: .software))),
        Sample(
            "status-report-with-virtual-enclave",
            .status(
                StatusReport(
                    tier: .tpm, processID: 1, storePath: "/", itemCount: 0, biometry: .none, isEnrolled: false,
                    isPasscodeSet: false, isBiometryLocked: false, accessGroup: "notes", problem: nil,
                    enclave: .tpm, enclaveDevice: .program))),
    ]
}
