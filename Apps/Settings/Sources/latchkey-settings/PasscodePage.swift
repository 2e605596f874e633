// SPDX-License-Identifier: Apache-2.0

import LatchkeySettings
import Widgets

/// The passcode: whether it is set, and setting, changing, checking and removing it. Every passcode is typed at the
/// daemon's prompt.
@MainActor final class PasscodePage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let state = RowGroup(name: PasscodeWords.stateName)
    private let actions = RowGroup(name: PasscodeWords.actionsName)
    private var shown: KeychainOverview?

    init(_ host: any PageHost) {
        self.host = host
        content = Page(Box(.down, spacing: 24, [state, actions]), width: 600, isCentred: false)
    }

    func refresh(_ overview: KeychainOverview?) {
        guard let overview, overview != shown else { return }
        shown = overview
        state.show([
            Row(
                overview.isPasscodeSet ? PasscodeWords.isSet : PasscodeWords.isNotSet,
                subtitle: PasscodeWords.state(overview), icon: "dialog-password-symbolic")
        ])
        guard overview.isPasscodeSet else {
            let set = MnemonicButton(PasscodeWords.set, styles: ["suggested-action"]) { [weak self] in self?.set() }
            return actions.show([Row(PasscodeWords.setTitle, subtitle: PasscodeWords.setText, suffix: [set])])
        }
        let change = MnemonicButton(PasscodeWords.change) { [weak self] in self?.change() }
        let check = MnemonicButton(PasscodeWords.check) { [weak self] in self?.check() }
        let remove = MnemonicButton(PasscodeWords.remove, styles: ["destructive-action"]) { [weak self] in
            self?.askToRemove()
        }
        actions.show([
            Row(PasscodeWords.changeTitle, subtitle: PasscodeWords.changeText, suffix: [change]),
            Row(
                PasscodeWords.checkTitle,
                subtitle: overview.isSensorLocked ? PasscodeWords.sensorLocked : PasscodeWords.checkText,
                suffix: [check]),
            Row(PasscodeWords.removeTitle, subtitle: PasscodeWords.removeText, suffix: [remove]),
        ])
    }

    // MARK: - Actions

    private func set() {
        host.perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasSet) { (control) throws(SettingsFailure) in
                try control.setPasscode()
            })
    }

    private func change() {
        host.perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasChanged) { (control) throws(SettingsFailure) in
                try control.changePasscode()
            })
    }

    private func check() {
        host.perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasRight) { (control) throws(SettingsFailure) in
                try control.checkPasscode(reason: PasscodeWords.checkReason)
            })
    }

    /// Counts the items that the removal deletes before it asks, if the keychain lists them.
    private func askToRemove() {
        guard shown?.listsItems == true else { return ask(PasscodeWords.removeUncounted) }
        let control = control
        Work.run { () throws(SettingsFailure) in
            try control.items()
        } done: { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): host.show(failure)
            case .success(let items):
                let doomed = items.filter(\.needsPasscode)
                let kept = items.filter { !$0.needsPasscode && ![.nothing, .appPassword].contains($0.rule) }
                ask(PasscodeWords.removeConsequences(deleted: doomed.count, unreadable: kept.count))
            }
        }
    }

    private func ask(_ consequences: String) {
        guard let window = host.window else { return }
        Question.ask(
            over: window, heading: PasscodeWords.removeQuestion, body: consequences,
            decline: WindowWords.cancelMnemonic, agree: PasscodeWords.removeAgree, isDestructive: true
        ) { [weak self] in self?.remove() }
    }

    private func remove() {
        host.perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasRemoved) { (control) throws(SettingsFailure) in
                try control.removePasscode()
            })
    }
}
