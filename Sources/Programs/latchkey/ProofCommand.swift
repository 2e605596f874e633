// SPDX-License-Identifier: Apache-2.0

import DeviceProof
import Glibc
import KeyFormats
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// proof challenge, accept, verify: the side of the relying party (docs/reference/device-proof.md). Needs no daemon and
/// no TPM.
enum ProofCommand {
    /// Limit of each file that is read, in bytes; the longest is a request with eight certificates.
    private static let fileBytes = Limits.attestationMessageBytes

    /// Checks the request of a device, and writes the challenge that only its TPM can answer.
    static func challenge(_ options: Options) throws(CommandFailure) {
        let state = try path(.state, options)
        let result = try KeyResult(options, isBinary: true)
        let request = try Input.whole(options.inputFile, limit: fileBytes).copyBytes()
        let roots = try options[path: .root].map { (path) throws(CommandFailure) in try CertificateFile.read(path) }
        let known = try knownKeys(options)
        guard roots != nil || !known.isEmpty else {
            throw .usage("proof challenge needs --root FILE or --known NAME", "See: latchkey help proof challenge")
        }
        let pending: PendingEnrollment
        let form: SecretBytes
        do throws(DeviceProofError) {
            let verifier = try Verifier(roots: roots ?? [], knownEndorsementKeys: known)
            pending = try verifier.begin(request, at: Int64(time(nil)))
            form = try pending.storedForm()
        } catch {
            throw refusal(error, request)
        }
        try failing { () throws(Failure) in
            try write(form, to: state)
            guard options.isJSON else { return try result.write(SecretBytes(pending.challenge)) }
            result.writeJSON([("challenge", .text(Base64.standard.encode(pending.challenge)))])
        }
    }

    /// Checks the answer of the device, and writes the file of the enrolled device.
    static func accept(_ options: Options) throws(CommandFailure) {
        let state = try path(.state, options)
        let result = try KeyResult(options, isBinary: true)
        let answer = try Input.whole(options.inputFile, limit: fileBytes).copyBytes()
        let form = try Input.whole(state, limit: fileBytes)
        let (device, stored) = try checking { () throws(DeviceProofError) in
            let device = try PendingEnrollment.finish(answer, storedForm: form)
            return (device, try device.storedForm())
        }
        // A secret is accepted once.
        Files.remove(state)
        try failing { () throws(Failure) in
            guard options.isJSON else { return try result.write(SecretBytes(stored)) }
            result.writeJSON([("device", .text(Base64.standard.encode(stored)))] + pairs(device.kind))
        }
    }

    static func verify(_ options: Options) throws(CommandFailure) {
        let (device, key) = (try path(.device, options), try path(.publicKey, options))
        let nonce = try options.nonce()
        let proof = try Input.whole(options.inputFile, limit: fileBytes).copyBytes()
        let (form, point) = (try Input.whole(device, limit: fileBytes), try Input.whole(key, limit: fileBytes))
        let proven = try checking { () throws(DeviceProofError) in
            try Verifier(roots: []).verify(
                proof, of: point.copyBytes(), nonce: nonce, by: EnrolledDevice(storedForm: form.copyBytes()))
        }
        let claim = proven.userVerificationClaimed
        guard options.isJSON else {
            return Output.write(words(proven.keyCannotLeaveDevice) + "\n" + words(claim) + "\n")
        }
        Output.write(
            JSON.object([
                ("proven", .object([("keyCannotLeaveDevice", .boolean(true))] + pairs(proven.keyCannotLeaveDevice))),
                (
                    "claimed",
                    .object([
                        ("authority", claim.authority.isEmpty ? .null : .text(Hexadecimal.encode(claim.authority))),
                        ("passcode", .text("\(claim.passcode)")),
                        ("reference", .text(Hexadecimal.encode(claim.reference))),
                        ("requiresApplicationPassword", .boolean(claim.requiresApplicationPassword)),
                    ])
                ),
            ]).line + "\n")
    }

    /// What each use needs, as a sentence.
    private static func words(_ claim: UserVerificationClaim) -> String {
        let needed =
            switch claim.passcode {
            case .decidedByAuthority: localized("the user's approval", context: "needs")
            case .required: localized("the passcode of the device", context: "needs")
            case .insteadOfApproval: localized("the user's approval or the passcode of the device", context: "needs")
            case .besidesApproval: localized("the user's approval and the passcode of the device", context: "needs")
            }
        guard claim.requiresApplicationPassword else { return localized("Claimed: each use needs \(needed).") }
        return localized("Claimed: each use needs \(needed) and a password.")
    }

    // MARK: - Input and output

    private static func path(_ name: OptionName, _ options: Options) throws(CommandFailure) -> FilePath {
        guard let path = options[path: name] else {
            throw .usage("\(name.word) is missing", "See: latchkey help proof")
        }
        return path
    }

    /// The devices of `--known`. How they are made is not known, so they count as virtual.
    private static func knownKeys(_ options: Options) throws(CommandFailure) -> [[UInt8]: DeviceKind] {
        guard let text = options[.known] else { return [:] }
        guard let name = Hexadecimal.decode(Array(text.utf8)[...]), name.count == 34 else {
            throw .usage(
                "the name of an endorsement key has 68 hexadecimal digits", "See: latchkey help proof challenge")
        }
        return [name: .virtual]
    }

    private static func write(_ bytes: SecretBytes, to path: FilePath) throws(Failure) {
        let file = try NewFile(path)
        try file.write(bytes)
        try file.finish()
    }

    private static func checking<Value>(_ body: () throws(DeviceProofError) -> Value) throws(CommandFailure) -> Value {
        do throws(DeviceProofError) { return try body() } catch { throw refusal(error, nil) }
    }

    private static func refusal(_ error: DeviceProofError, _ request: [UInt8]?) -> CommandFailure {
        var hint: Phrase = ""
        if error.code == .unknownEndorsementKey, let request,
            let name = try? Verifier.endorsementKeyName(in: request)
        {
            hint = "If you read it at the device itself, accept its key: --known \(Hexadecimal.encode(name))"
        }
        return .failure(Failure(.invalidParameter, error.text, hint: hint))
    }

    /// What is proven about the device that made the key, as a sentence.
    private static func words(_ kind: DeviceKind) -> String {
        switch kind {
        case .hardware(let manufacturer, let model):
            localized(
                """
                Proven: the key was made in a TPM (manufacturer \(manufacturer.withoutControls), model \
                \(model.withoutControls)), and cannot leave it.
                """)
        case .virtual:
            localized(
                """
                Proven: the key was made in a virtual TPM, which the owner of its machine can copy, and cannot leave it.
                """)
        }
    }

    private static func pairs(_ kind: DeviceKind) -> [(String, JSON)] {
        switch kind {
        case .hardware(let manufacturer, let model):
            [("kind", .text("hardware")), ("manufacturer", .text(manufacturer)), ("model", .text(model))]
        case .virtual: [("kind", .text("virtual")), ("manufacturer", .null), ("model", .null)]
        }
    }
}
