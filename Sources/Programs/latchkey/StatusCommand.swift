// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords

/// status: shows the daemon, the store, and the means of authentication.
enum StatusCommand {
    static func run(_ options: Options) throws(CommandFailure) {
        let report = try failing { () throws(Failure) in try Client.command.call(Request.Status()) }
        Output.write(options.isJSON ? json(report).line + "\n" : text(report))
        if let problem = report.problem { throw .failure(problem) }
    }

    private static func text(_ report: StatusReport) -> String {
        let biometry =
            report.biometry == .none
            ? localized("no sensor")
            : "\(sensor(report.biometry)), \(report.isEnrolled ? localized("enrolled") : localized("nothing enrolled"))"
                + (report.isBiometryVirtual
                    ? ", " + localized("virtual: a program, which decides what it matches") : "")
                + (report.isBiometryLocked ? ", " + localized("locked until the passcode is entered") : "")
        var rows = [
            [
                localized("tier"),
                report.tier.name
                    + (report.tier == .simulated ? " " + localized("(for tests: protects nothing)") : ""),
            ],
            [localized("daemon"), localized("process \(report.processID)")],
            [localized("store"), store(report)],
            [localized("items"), report.problem == nil ? "\(report.itemCount)" : localized("unknown")],
            [localized("biometry"), biometry],
            [localized("passcode"), passcode(report)],
            [localized("keychain"), report.isLocked ? localized("locked") : localized("unlocked")],
            [localized("enclave"), report.deviceProblem.map { localized($0.message) } ?? enclave(report)],
            [
                localized("memory"),
                report.unlockedMemory.map { localized("secrets may be swapped out: \($0)") }
                    ?? localized("secrets are locked"),
            ],
            groups(report),
        ]
        if let other = otherStore(report, localized) { rows.append([localized("other store"), other]) }
        if report.quarantineCount > 0 {
            rows.append([localized("quarantine"), localized("\(report.quarantineCount) damaged, see: latchkey check")])
        }
        return Table.text(rows)
    }

    private static func store(_ report: StatusReport) -> String {
        guard report.tier == .user, StoreLocation.isWithoutVariables else { return report.storePath }
        return localized("\(report.storePath) (HOME is not set: the home of the user database)")
    }

    /// The sensor in plain words; the JSON has the name of Apple's API.
    private static func sensor(_ kind: BiometryKind) -> String {
        switch kind {
        case .none: localized("no sensor")
        case .touchID: localized("fingerprint")
        case .faceID: localized("face")
        case .opticID: "Optic ID"
        }
    }

    /// The access groups of this command. The daemon reports the first one, and accepted the others if they were declared
    /// with it.
    private static func groups(_ report: StatusReport) -> [String] {
        let declared = Client.declaredNames
        guard declared.count > 1, declared.first == report.accessGroup else {
            return [localized("access group"), report.accessGroup]
        }
        return [localized("access groups"), declared.joined(separator: ", ")]
    }

    /// A keychain of this user that programs do not use; nil if there is none.
    private static func otherStore(_ report: StatusReport, _ words: Words) -> String? {
        // With LATCHKEY_HOME, or without a home folder, there is one store only.
        guard let own = try? OwnStore() else { return nil }
        switch report.tier {
        case .user where Files.exists(SystemSockets.installed.keychain):
            return words("the system's keychain is not used; move this store there with: latchkey migrate")
        case .file where own.wasMoved, .tpm where own.wasMoved:
            return words("\(own.folder) was moved; delete it with: latchkey migrate --discard")
        case .user, .file, .tpm, .simulated: return nil
        }
    }

    private static func passcode(_ report: StatusReport) -> String {
        guard report.isPasscodeSet else { return localized("not set") }
        guard report.passcodeKind == .account else { return localized("set") }
        return report.canBeGuessedWithoutTPM
            ? localized(
                "set, the password of your account, as strong as /etc/shadow: a thief of the disk can guess it without the TPM"
            )
            : localized("set, the password of your account")
    }

    private static func enclave(_ report: StatusReport) -> String {
        switch report.enclave {
        case nil: localized("none", context: "enclave")
        case .software: localized("software (private keys are in the daemon's memory while they are used)")
        case .tpm:
            switch report.enclaveDevice {
            case .chip: "TPM 2.0"
            case .program: localized("TPM 2.0, virtual: a program, whose administrator can copy the keys")
            case nil: localized("TPM 2.0, not known whether it is virtual, because it does not answer")
            }
        }
    }

    /// What the JSON says of a passcode that the TPM does not protect against guessing.
    private static let guessable = "as strong as /etc/shadow: a thief of the disk can guess it without the TPM"

    private static func json(_ report: StatusReport) -> JSON {
        .object([
            ("tier", .text(report.tier.name)), ("process", .number(Int64(report.processID))),
            ("store", .text(report.storePath)),
            ("items", report.problem == nil ? .number(Int64(clamping: report.itemCount)) : .null),
            ("biometry", .text("\(report.biometry)")), ("enrolled", .boolean(report.isEnrolled)),
            ("biometryVirtual", .boolean(report.isBiometryVirtual)),
            ("locked", .boolean(report.isBiometryLocked)), ("passcode", .boolean(report.isPasscodeSet)),
            ("passcodeKind", report.isPasscodeSet ? report.passcodeKind.map { .text($0.name) } ?? .null : .null),
            ("passcodeLimit", report.canBeGuessedWithoutTPM ? .text(guessable) : .null),
            ("keychainLocked", .boolean(report.isLocked)),
            ("enclave", report.enclave.map { .text($0.name) } ?? .null),
            ("enclaveVirtual", report.enclaveDevice.map { .boolean($0 == .program) } ?? .null),
            ("enclaveProblem", report.deviceProblem.map { .text($0.message.description) } ?? .null),
            ("memoryLocked", .boolean(report.unlockedMemory == nil)),
            ("memoryProblem", report.unlockedMemory.map { .text($0) } ?? .null),
            ("group", .text(report.accessGroup)),
            ("otherStore", otherStore(report, .plainEnglish).map { .text($0) } ?? .null),
            ("quarantined", .number(Int64(clamping: report.quarantineCount))),
            ("problem", report.problem.map { .text($0.message.description) } ?? .null),
        ])
    }
}
