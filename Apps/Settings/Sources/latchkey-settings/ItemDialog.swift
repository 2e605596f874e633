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
        var text = AppsWords.facts(item, app: app)
        if item.isOpen, !item.canBeProtected { text += "\n\n" + OpenWords.advice(app) }
        let close = Later()
        let rule = item.canBeProtected ? ruleRow(item, close, host) : nil
        let dialog = Question.ask(
            over: window, heading: AppsWords.name(item), body: text, decline: WindowWords.closeMnemonic,
            agree: AppsWords.delete, isDestructive: true,
            extra: rule
        ) { [weak host] in
            // Nothing is typed for a keychain that would refuse it.
            host?.whenUnlocked { [weak host] in
                guard let host else { return }
                askToDelete(item, app: app, asksAtPrompt: asksAtPrompt, host)
            }
        }
        // The row exists as long as the dialog, which owns this action.
        close.action = { withExtendedLifetime(rule) { dialog.close() } }
    }

    /// A switch for what is asked before the item is read.
    private static func ruleRow(_ item: StoredItem, _ close: Later, _ host: any PageHost) -> Widget {
        let row = SwitchRow(
            OpenWords.askTitle, subtitle: OpenWords.askText, icon: "dialog-question-symbolic", name: OpenWords.askTitle,
            isOn: item.rule != .nothing
        ) { [weak host] asks in
            // The prompt decides: the dialog would show what is not so yet.
            close.run()
            host?.whenUnlocked { [weak host] in
                let control = KeychainControl()
                host?.perform(
                    Operation(
                        waiting: WindowWords.answerPrompt, cancel: { control.cancel() },
                        body: { _ throws(SettingsFailure) in
                            try control.protect(item, asks: asks)
                            return Operation.Outcome(
                                words: OpenWords.wasChanged(item, asks: asks), changed: (item, item.asking(asks)))
                        }))
            }
        }
        return RowGroup(name: OpenWords.askName, [row])
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
