// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension TwoServices {
    /// Evaluates the passcode policy of an app with each of these passcodes; an evaluation without a right one is cancelled.
    func enter(_ passcodes: String...) -> [Reply] {
        let session = session()
        guard case .context(let context)? = answers(session, .createContext)().last else { return [] }
        let replies = answers(
            session,
            .evaluate(
                Request.Evaluate(context: context, policy: .deviceOwnerAuthentication, prompting: Prompting())))
        for passcode in passcodes where replies().isEmpty { world.perform(.passcode(SecretBytes(passcode.utf8))) }
        if replies().isEmpty { world.perform(.cancel) }
        return replies()
    }

    /// Changes the passcode at the prompt.
    func changePasscode(from current: String, to new: String) -> [Reply] {
        let replies = answers(session(), .passcode(.changeAtPrompt))
        world.perform(.passcode(SecretBytes(current.utf8)))
        enterNew(new)
        return replies()
    }
}
