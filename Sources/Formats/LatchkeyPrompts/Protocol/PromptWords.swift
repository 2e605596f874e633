// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords

/// The texts of a prompt, shared by the terminal and the window. Every text that the caller chooses, including its
/// file name and path, is in quotation marks, so that it cannot be mistaken for a statement of Latchkey.
///
/// The texts are whole sentences, because other languages join and inflect their parts in other ways; a part with a
/// context is a noun whose case the sentence determines.
extension PromptState {
    /// Which program asks for what. For a request of Latchkey itself, the sentence continues with `reason`.
    package var question: String {
        prompt.purpose == .app ? words("“\(callerName)” asks for \(proof)") : words("“\(callerName)” wants to")
    }

    /// The requested proof, as part of a sentence.
    private var proof: String {
        switch (content.method, prompt.sensor) {
        case (.biometry, .touchID): words("your fingerprint", context: "asks for")
        case (.biometry, .faceID): words("your face", context: "asks for")
        case (.biometry, .opticID): words("your eyes", context: "asks for")
        case (.passcode, _), (.biometry, .none): passcode("asks for")
        }
    }

    /// The caller's reason, nil when it gave none; or Latchkey's description of the action that follows.
    package var reason: String? {
        guard let action else { return prompt.reason.isEmpty ? nil : words("to “\(prompt.reason)”") }
        return action + "."
    }

    /// The action that follows a successful prompt; nil when an app evaluates a policy for its own purposes.
    package var action: String? {
        switch prompt.purpose {
        case .app: nil
        case .unlock: words("unlock this keychain")
        case .exportItems: words("create a backup of the items in this keychain that may leave this computer")
        case .importItems: words("restore the items of a backup into this keychain")
        case .setPasscode: words("set a passcode for this keychain")
        case .moveItemsAway: words("move every item of your own store to the system's keychain")
        case .receiveItems:
            words("add every item of your own store to the system's keychain and replace older ones")
        case .changePasscode: words("change the passcode of this keychain")
        case .recoverPasscode: words("open this keychain with its recovery code and set a new passcode")
        case .removePasscode: words("remove the passcode of this keychain and delete the items bound to it")
        case .discardProtected: words("delete every protected item of this keychain permanently")
        case .acceptStore:
            words("continue with this keychain although it was replaced by an older or a changed one")
        case .listNames: words("list the names of the items of every app in this keychain, without their secrets")
        case .deleteItem: words("delete “\(prompt.reason)” permanently")
        case .readSecret: words("read “\(itemLabel)”, which another program stored")
        case .changeSecret: words("change “\(itemLabel)”, which another program stored")
        case .deleteSecret: words("delete “\(itemLabel)”, which another program stored")
        case .replaceSecret: words("replace “\(itemLabel)”, which was copied from another keyring")
        case .protectSecret: words("change what is proven before “\(itemLabel)” is read")
        case .identifyDevice:
            words(
                "identify this device to “\(prompt.reason)”, which can recognise it from now on, also after a new installation"
            )
        }
    }

    /// The caller's process id and program, as the kernel reports them.
    package var program: String {
        prompt.program.isEmpty
            ? words("process \(prompt.processID)") : words("process \(prompt.processID), “\(prompt.program)”")
    }

    /// `program` as a sentence, without its full stop.
    package var programLine: String { words("It is \(program)") }

    /// The label of the item, so short that the sentence around it is shown to its end.
    private var itemLabel: String { Self.clipped(prompt.reason, to: 64) }

    private static func clipped(_ text: String, to limit: Int) -> String {
        text.count > limit ? text.prefix(limit) + "…" : text
    }

    /// Which programs started the one that asks, as a sentence without its full stop; nil if that is not shown.
    package var startedByLine: String? {
        prompt.startedBy.isEmpty ? nil : words("It was started by “\(Self.clipped(prompt.startedBy, to: 120))”")
    }

    /// The same with the first and the last program of a long chain.
    package var shortStartedByLine: String? {
        let programs = prompt.startedBy.split(separator: Limits.startedByArrow)
        guard programs.count > 3, let last = programs.first, let first = programs.last else { return startedByLine }
        let ends = [last, "…", first].joined(separator: Limits.startedByArrow)
        return words("It was started by “\(Self.clipped(ends, to: 120))”")
    }

    /// The same without arrows, which a screen reader does not read as words and some terminals do not have.
    package var spokenStartedByLine: String? {
        let programs = Self.clipped(prompt.startedBy, to: 120).split(separator: Limits.startedByArrow)
        guard let last = programs.first else { return nil }
        let chain = programs.dropFirst().reduce(words("“\(last)”")) { words("\($0), started by “\($1)”") }
        return words("It was started by \(chain)")
    }

    /// Whether the prompt asks for an answer, of those that it offers.
    package var asksForAnswer: Bool { !content.step.answers.isEmpty }

    /// What an answer means later, and what it does not: sentences; empty where none is asked for.
    package func answerNotes(inWindow: Bool) -> [String] {
        guard asksForAnswer else { return [] }
        if prompt.purpose == .replaceSecret {
            return [words("The item then belongs to “\(callerName)”, which reads it without this question."), courtesy]
        }
        guard content.step.answers.contains(.always) else {
            return [words("“\(title(.once))” is for this request: no answer is stored."), courtesy]
        }
        let (session, always, never) = (title(.session), title(.always), title(.never))
        return [
            words("“\(session)” also ends when the keychain is locked."),
            prompt.startedBy.isEmpty
                ? words("“\(always)” and “\(never)” are stored for this item and this program.")
                : words("“\(always)” and “\(never)” are stored for this item, this program and those that started it."),
            inWindow
                ? words("Withdraw an answer in Latchkey Settings.")
                : words("Withdraw an answer with latchkey secrets answers, or in the settings."),
            courtesy,
        ]
    }

    private var courtesy: String {
        words("This is a courtesy among your own programs: one of them can act as another.")
    }

    /// When the prompt ends by itself, as a sentence without its full stop: counted from when it appeared, from when its last
    /// step began, or from when a delay began.
    package var endingLine: String { words("This prompt ends after \(time(Int(content.secondsToEnd)))") }

    /// The caller's own name for itself; nil when it is the name that the kernel reports.
    package var ownName: String? { prompt.ownName.isEmpty ? nil : words("“\(prompt.ownName)”") }

    /// `ownName` as a sentence, without its full stop. A program of Latchkey has no other name, but may use the items of one.
    package var ownNameLine: String? {
        guard !prompt.ownName.isEmpty else { return nil }
        return isOwnProgram
            ? words("It uses the items of “\(prompt.ownName)”") : words("It calls itself “\(prompt.ownName)”")
    }

    /// Why the app uses the camera, in its own text, while it asks for permission (behaviour LA-07).
    package var usage: String? {
        content.question == .permission && !prompt.faceUsage.isEmpty
            ? words("It uses the camera for “\(prompt.faceUsage)”") : nil
    }

    /// What the person should do now. A window names no command.
    package func wish(inWindow: Bool) -> String {
        inWindow && content.step == .accountExpired
            ? words("Change the password of your account in the settings of your desktop.") : wish
    }

    package var wish: String {
        switch content.step {
        case .recoveryCodeShown:
            return isOfBackup
                ? words("Write this recovery code down. It opens the backup and is not shown again.")
                : words(
                    "Write this recovery code down. It opens this keychain if the passcode is forgotten or the TPM is replaced, and is not shown again."
                )
        case .recoveryCodeAsked:
            if let word = prompt.purpose.confirmationWord { return words("Type \(word), then press Enter.") }
            return isOfBackup
                ? words("Type the recovery code of the backup, then press Enter.")
                : words("Type the recovery code of the keychain, then press Enter.")
        case .recoveryCodeRepeated:
            return words(
                "Type the last group of the recovery code that you wrote down (6 characters), then press Enter.")
        case .newPasscodeAsked:
            return words(
                "Type a new passcode of at least \(prompt.tier.passcodeCharacters) characters, then press Enter.")
        case .newPasscodeRepeated: return words("Type the new passcode again, then press Enter.")
        case .answerAsked, .onceAsked:
            return switch prompt.purpose {
            case .changeSecret: words("May it change this item?")
            case .deleteSecret: words("May it delete this item?")
            case .replaceSecret: words("May it replace this item?")
            case .protectSecret: words("May it change the rule of this item?")
            default: words("May it read this item?")
            }
        case .accountExpired:
            return words("Change the password of your account with passwd, or in the settings of your desktop.")
        case .proof: break
        }
        switch content.question {
        case .none: break
        case .permission: return permissionWish
        case .scan: return words("Press Enter when the camera may look for your face.")
        }
        switch content.method {
        case .passcode where isDelayed:
            let time = time(delayLeft)
            return asksForPasscode
                ? words("Too many wrong passcodes. Try again in \(time).")
                : words("Too many wrong passwords. Try again in \(time).")
        case .passcode: return words("Type \(passcode("type")), then press Enter.")
        case .biometry: return sensorWish
        }
    }

    /// Whether a recovery code is that of a backup, and not that of the keychain.
    var isOfBackup: Bool { [.exportItems, .importItems].contains(prompt.purpose) }

    private var permissionWish: String {
        switch prompt.sensor {
        case .touchID: words("Allow “\(callerName)” to recognise your fingerprint, now and later?")
        case .faceID: words("Allow “\(callerName)” to recognise your face, now and later?")
        case .opticID: words("Allow “\(callerName)” to recognise your eyes, now and later?")
        case .none: words("Allow “\(callerName)” to use the camera, now and later?")
        }
    }

    private var sensorWish: String {
        // The sensor does not restart automatically; the user can still choose the fallback or cancel (behaviour
        // LA-27).
        guard content.triesLeft > 0 else {
            return switch prompt.sensor {
            case .touchID: words("The sensor has stopped looking for your fingerprint.")
            case .faceID: words("The sensor has stopped looking for your face.")
            case .opticID: words("The sensor has stopped looking for your eyes.")
            case .none: words("The sensor has stopped.")
            }
        }
        return prompt.sensor == .touchID ? words("Touch the sensor.") : words("Look at the sensor.")
    }

    /// The passcode that is asked for, as the object of a verb. A move asks for two, one after the other, which can
    /// differ.
    private func passcode(_ context: String) -> String {
        switch content.secret {
        case .passcode: break
        case .accountPassword: return words("the password of your account on this system", context: context)
        case .previousPassword:
            return words("the password that your account had before it was changed", context: context)
        }
        switch prompt.purpose {
        case .receiveItems: return words("the passcode of the system's keychain", context: context)
        case .moveItemsAway: return words("the passcode of your own store", context: context)
        default: return words("your passcode", context: context)
        }
    }

    /// Whether a passcode is asked for, rather than an account password.
    var asksForPasscode: Bool { content.secret == .passcode }

    package var recoveryCode: String? {
        guard content.step == .recoveryCodeShown else { return nil }
        return content.recoveryCode?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the prompt accepts typed text: a passcode, a recovery code, a word that confirms or a new passcode.
    package var takesText: Bool {
        switch content.step {
        case .proof: content.method == .passcode && !isDelayed
        case .recoveryCodeShown, .accountExpired, .answerAsked, .onceAsked: false
        case .recoveryCodeAsked, .recoveryCodeRepeated, .newPasscodeAsked, .newPasscodeRepeated: true
        }
    }

    /// A duration as text, in minutes and seconds.
    private func time(_ seconds: Int) -> String {
        let (minutes, rest) = (seconds / 60, seconds % 60)
        let minutesText = words.count(minutes, "\(minutes) minute", "\(minutes) minutes")
        let secondsText = words.count(rest, "\(rest) second", "\(rest) seconds")
        guard minutes > 0 else { return secondsText }
        return rest == 0 ? minutesText : words("\(minutesText) and \(secondsText)")
    }
}
