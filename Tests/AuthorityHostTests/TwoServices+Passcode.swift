// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import TestSupport
import Testing

extension TwoServices {
    /// Creates a context.
    func context(_ session: Session) throws -> ContextHandle {
        let reply = answers(session, .createContext)().last
        guard case .context(let context)? = reply else { throw UnexpectedReply(reply: reply) }
        return context
    }

    /// Evaluates a policy on a new context, and returns a function that returns the replies so far.
    func evaluate(_ policy: Policy = .deviceOwnerAuthentication, in session: Session? = nil) -> () -> [Reply] {
        let session = session ?? self.session()
        guard case .context(let context)? = answers(session, .createContext)().last else {
            Issue.record("no context was created")
            return { [] }
        }
        return answers(session, .evaluate(context, policy))
    }

    /// Evaluates the passcode policy of an app with each of these passcodes; an evaluation without a right one is cancelled.
    func enter(_ passcodes: String...) -> [Reply] {
        let replies = evaluate()
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
