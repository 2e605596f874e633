// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// passcode set | change | remove | check. In tiers `file` and `tpm` the passcode is typed at the prompt only.
enum Passcode {
    private static func newPasscode(_ tier: Tier) -> String {
        localized(
            "At least \(tier.passcodeCharacters) characters; fewer than 6 digits or 8 characters are soon guessed from a copy of the store."
        ) + "\n" + localized("New passcode: ")
    }

    /// Runs one of the verbs. The daemon asks for the current passcode in its own prompt.
    static func run(_ verb: String, _ options: Options) throws(CommandFailure) {
        let change: Request.PasscodeChange?
        let status = try checkIsSet(verb != "set")
        let isAtPrompt = status.isInSystemTier
        switch verb {
        case "set" where isAtPrompt: change = .setAtPrompt
        // As passwd(1): the present one first, then the new one. Only a pipe has no prompt for a new one.
        case "change" where isAtPrompt || StandardStream.input.isTerminal: change = .changeAtPrompt
        case "set": change = .set(try Input.passcodes([newPasscode(status.tier)], repeatsLast: true)[0])
        case "change": change = .change(try Input.passcodes([newPasscode(status.tier)], repeatsLast: false)[0])
        case "remove":
            try confirmRemoval(status)
            change = .remove
        // A correct passcode ends a lockout in any prompt.
        case "check": change = nil
        default: throw .usage("unknown: passcode \(verb)", "See: latchkey help passcode")
        }
        try failing { () throws(Failure) in if let change { try Client.command.call(change) } else { try check() } }
        let done = ["set": "set", "change": "changed", "remove": "removed", "check": "right"][verb] ?? verb
        Output.write(
            options.isJSON
                ? JSON.object([("passcode", .text(done))]).line + "\n" : sentence(verb, done) + "\n")
    }

    private static func sentence(_ verb: String, _ done: String) -> String {
        switch verb {
        case "set": localized("The passcode is set.")
        case "change": localized("The passcode is changed.")
        case "remove": localized("The passcode is removed.")
        case "check": localized("The passcode is right.")
        default: localized("The passcode is \(done).")
        }
    }

    /// Checks, before anything is read, that a passcode is set or not set, as the verb requires.
    private static func checkIsSet(_ hasToBe: Bool) throws(CommandFailure) -> StatusReport {
        try failing { () throws(Failure) in
            let report = try Client.command.status()
            // If the store cannot be used, the request itself fails with the reason.
            guard report.problem == nil, report.isPasscodeSet != hasToBe else { return report }
            guard hasToBe else {
                throw Failure(
                    .notPermitted, "A passcode is set already.", hint: "Change it with: latchkey passcode change")
            }
            throw Failure(.passcodeNotSet, "No passcode is set.", hint: "Set one with: latchkey passcode set")
        }
    }

    /// Lists the items that are deleted with the passcode, and the keys of the TPM that end with it. Without any the daemon's
    /// prompt is confirmation enough.
    private static func confirmRemoval(_ status: StatusReport) throws(CommandFailure) {
        let all: [FoundItem]
        // A daemon that separates the programs of a user asks the user before it lists the items of all of them.
        do throws(Failure) {
            all = try Client.command.itemsOfEveryApp()
        } catch {
            // Setting or removing the passcode was interrupted: the keychain has none, so no item is deleted with it.
            guard error.status != .passcodeNotSet else { return }
            throw .failure(error)
        }
        let doomed = DoomedItems(of: all) { $0.isLostWithPasscode }
        let isInChip = status.tier == .tpm && status.enclave == .tpm
        let keys = DoomedItems(of: all) { isInChip && !$0.isLostWithPasscode && $0.isReleasedByPasscodeOnly }
        let count = all.count { !$0.isLostWithPasscode && $0.needsPerson } - keys.items.count
        var text = doomed.words
        if !keys.items.isEmpty {
            text +=
                localized.count(
                    keys.items.count,
                    """
                    Only this passcode releases a private key in the TPM. It cannot be used any more, unless it was made \
                    before the passcode was set:
                    """,
                    """
                    Only this passcode releases \(keys.items.count) private keys in the TPM. They cannot be used any more, \
                    unless they were made before the passcode was set:
                    """
                ) + "\n" + keys.lines
        }
        if count > 0 {
            text +=
                localized.count(
                    count,
                    "One more item needs a finger or the passcode, and cannot be read until a passcode is set again.",
                    "\(count) more items need a finger or the passcode, and cannot be read until a passcode is set again."
                ) + "\n"
        }
        guard !doomed.items.isEmpty || !keys.items.isEmpty else { return Output.writeError(count == 0 ? "" : text) }
        try Confirmation.ask("remove", text)
    }

    /// An evaluation that only the passcode can satisfy.
    private static func check() throws(Failure) {
        try Client.command.call(
            Request.EvaluateAccessControl(
                context: try Client.command.call(Request.CreateContext()),
                accessControl: AccessControl(constraints: .devicePasscode),
                prompting: Prompting(reason: localized("check the passcode"))))
    }
}

extension FoundItem {
    /// Whether a person has to prove something before the item is used, besides an application password.
    fileprivate var needsPerson: Bool { !(accessControl?.plan.stages.isEmpty ?? true) }

    /// Whether it is a private key of the enclave whose every way of use contains the passcode. Unless its class is that of the
    /// passcode, a key in a TPM is not deleted with the passcode, but what it demands is.
    var isReleasedByPasscodeOnly: Bool { attributes?[.tokenID] != nil && accessControl?.needsPasscode == true }
}

extension StatusReport {
    /// Whether two services share the work, so that neither this program nor latchkeyd may see a passcode.
    fileprivate var isInSystemTier: Bool {
        switch tier {
        case .file, .tpm: true
        case .user, .simulated: false
        }
    }
}
