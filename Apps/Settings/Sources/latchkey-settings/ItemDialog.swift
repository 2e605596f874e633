// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// What is known of an item, and its deletion, which a person confirms by typing a word.
@MainActor enum ItemDialog {
    /// Shows an item over the window of `host`.
    ///
    /// - Parameter app: the name of the item's app.
    static func show(_ item: StoredItem, app: String, asksAtPrompt: Bool, _ host: any PageHost) {
        guard let window = host.window else { return }
        Question.ask(
            over: window, heading: AppsWords.name(item), body: AppsWords.facts(item, app: app),
            decline: WindowWords.closeMnemonic, agree: AppsWords.delete, isDestructive: true
        ) { [weak host] in
            // Nothing is typed for a keychain that would refuse it.
            host?.whenUnlocked { [weak host] in
                guard let host else { return }
                askToDelete(item, app: app, asksAtPrompt: asksAtPrompt, host)
            }
        }
    }

    private static func askToDelete(_ item: StoredItem, app: String, asksAtPrompt: Bool, _ host: any PageHost) {
        guard let window = host.window else { return }
        Question.ask(
            over: window, heading: AppsWords.deleteQuestion, body: AppsWords.deleteConsequence(item, app: app),
            decline: WindowWords.cancelMnemonic, agree: AppsWords.deleteAgree, isDestructive: true,
            typing: (ForgottenWords.word, ForgottenWords.typeIt)
        ) { [weak host] in
            let control = KeychainControl()
            host?.perform(
                Operation(
                    waiting: asksAtPrompt ? WindowWords.answerPrompt : AppsWords.deleting, cancel: { control.cancel() },
                    body: { _ throws(SettingsFailure) in
                        try control.delete(item)
                        return Operation.Outcome(words: AppsWords.wasDeleted(item), deleted: item)
                    }))
        }
    }
}
