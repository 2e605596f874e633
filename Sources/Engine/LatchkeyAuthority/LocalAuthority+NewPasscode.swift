// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

// A new passcode is entered at the prompt twice. Its text never reaches the reducer.

extension LocalAuthority {
    /// The new passcode of an evaluation that asks for one.
    enum NewPasscode: Sendable {
        /// Entered once; the prompt asks for it again.
        case entered(SecretBytes)
        /// Entered twice.
        case chosen(SecretBytes)
    }

    /// Stores the first entry of a new passcode until it was entered again.
    func enterNew(_ passcode: SecretBytes, _ id: UInt64) {
        let tier = parts.tier
        let enter = QueuedEvent { core in
            // A second first entry must not replace the one whose length was found sufficient.
            guard core.isIn(.newPasscodeAsked, id), core.newPasscodes[id] == nil else { return nil }
            let isLongEnough = passcode.isLongEnoughAsPasscode(in: tier)
            if isLongEnough { core.newPasscodes[id] = .entered(passcode) }
            return .newPasscodeEntered(id, isLongEnough: isLongEnough)
        }
        post(enter)
    }

    /// Compares the second entry of a new passcode with the first one, which it forgets if they differ.
    func repeatNew(_ passcode: SecretBytes, _ id: UInt64) {
        let compare = QueuedEvent { core in
            guard core.isIn(.newPasscodeRepeated, id), case .entered(let first) = core.newPasscodes[id] else {
                return nil
            }
            let isEqual = first == passcode
            core.newPasscodes[id] = isEqual ? .chosen(first) : nil
            return .newPasscodeRepeated(id, isEqual: isEqual)
        }
        post(compare)
    }
}

extension LocalAuthority.Core {
    /// Returns whether the prompt of that evaluation is visible and in that step.
    func isIn(_ step: PromptContent.Step, _ id: UInt64) -> Bool {
        state.shown(id).map { $0.isVisible && $0.step == step } ?? false
    }

    /// The answers that the prompt of an evaluation offers now.
    func answers(_ id: UInt64) -> [SecretAnswer] {
        state.shown(id).flatMap { $0.isVisible ? $0.step.answers : nil } ?? []
    }

    /// Removes and returns what an evaluation that ended passes to its request: a recovery code or a new passcode.
    mutating func takeText(_ id: UInt64) -> SecretBytes? {
        let code = enteredCodes.removeValue(forKey: id)
        // A passcode that was entered only once must not be set.
        if case .chosen(let passcode) = newPasscodes.removeValue(forKey: id) { return passcode }
        return code
    }
}
