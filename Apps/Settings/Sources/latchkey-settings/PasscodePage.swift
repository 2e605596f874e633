// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The passcode: whether it is set, and setting, changing, checking and removing it, also if it is forgotten. Every passcode
/// is typed at the daemon's prompt.
@MainActor final class PasscodePage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let result: ResultGroup
    private let state = RowGroup(name: PasscodeWords.stateName)
    private let actions = RowGroup(name: PasscodeWords.actionsName)
    private let forgotten = RowGroup(ForgottenWords.name)
    private var shown: KeychainOverview?

    init(_ host: any PageHost) {
        self.host = host
        result = ResultGroup(host)
        content = Page(
            Box(.down, spacing: 24, [result.content, state, actions, forgotten]), width: 600, isCentred: false)
    }

    func leave() { result.leave() }

    func forgetNames() { result.leave() }

    func refresh(_ overview: KeychainOverview?) {
        guard let overview else { return }
        let content = Content(overview)
        defer { shown = overview }
        guard content != shown.map(Content.init) else { return }
        state.show([
            Row(
                overview.isPasscodeSet ? PasscodeWords.isSet : PasscodeWords.isNotSet,
                subtitle: PasscodeWords.state(overview), icon: "dialog-password-symbolic")
        ])
        actions.show(overview.isPasscodeSet ? rows(overview) : [firstRow(overview)])
        forgotten.show(overview.isPasscodeSet ? forgottenRows(overview) : [])
    }

    /// What the rows depend on. While it stays the same the page keeps its rows, so that none loses the focus.
    private struct Content: Equatable {
        let isPasscodeSet, isSensorLocked, hasRecoveryCode: Bool
        let passcodeCharacters: Int
        let passcode: KeychainOverview.Passcode?
        let protection: KeychainOverview.Protection

        init(_ overview: KeychainOverview) {
            isPasscodeSet = overview.isPasscodeSet
            isSensorLocked = overview.isSensorLocked
            hasRecoveryCode = overview.hasRecoveryCode
            passcodeCharacters = overview.passcodeCharacters
            passcode = overview.passcode
            protection = overview.protection
        }
    }

    private func firstRow(_ overview: KeychainOverview) -> Row {
        Row(PasscodeWords.setTitle, subtitle: PasscodeWords.setText(overview), hasMnemonic: true) { [weak self] in
            self?.set()
        }
    }

    private func rows(_ overview: KeychainOverview) -> [Row] {
        [
            changeRow(overview),
            Row(
                overview.isSensorLocked ? PasscodeWords.enterTitle : PasscodeWords.checkTitle,
                subtitle: overview.isSensorLocked ? PasscodeWords.sensorLocked : PasscodeWords.checkText,
                hasMnemonic: true
            ) { [weak self] in self?.check() },
            Row(PasscodeWords.removeTitle, subtitle: PasscodeWords.removeText, hasMnemonic: true) { [weak self] in
                self?.askToRemove()
            },
        ]
    }

    private func changeRow(_ overview: KeychainOverview) -> Row {
        // The daemon refuses to change the password of the account, which the system changes.
        guard overview.passcode != .account else {
            return Row(PasscodeWords.changeTitle, subtitle: PasscodeWords.changeAccountText, hasMnemonic: true)
        }
        return Row(PasscodeWords.changeTitle, subtitle: PasscodeWords.changeText, hasMnemonic: true) { [weak self] in
            self?.change()
        }
    }

    private func forgottenRows(_ overview: KeychainOverview) -> [Row] {
        guard overview.hasRecoveryCode else {
            let text = overview.passcode == .account ? ForgottenWords.accountText : ForgottenWords.text
            return [
                Row(ForgottenWords.title, subtitle: text, hasMnemonic: true) { [weak self] in self?.askToDiscard() }
            ]
        }
        return [
            Row(ForgottenWords.useCodeTitle, subtitle: ForgottenWords.codeText, hasMnemonic: true) { [weak self] in
                self?.recover()
            },
            Row(ForgottenWords.noCodeTitle, subtitle: ForgottenWords.noCodeText, hasMnemonic: true) { [weak self] in
                self?.askToDiscard()
            },
        ]
    }

    // MARK: - Actions

    private func set() { host.perform(.settingPasscode(shownIn: result)) }

    private func perform(_ operation: Operation) {
        result.leave()
        host.perform(operation)
    }

    private func change() {
        perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasChanged) { (control) throws(SettingsFailure) in
                try control.changePasscode()
            })
    }

    private func check() {
        perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasRight) { (control) throws(SettingsFailure) in
                try control.checkPasscode(reason: PasscodeWords.checkReason)
            })
    }

    /// Counts the items that the removal deletes before it asks, if the keychain lists them.
    private func askToRemove() {
        guard shown?.listsItems == true else { return ask(PasscodeWords.removeUncounted(shown?.protection)) }
        count { [weak self] items in
            let doomed = items.filter(\.needsPasscode)
            let kept = items.filter { !$0.needsPasscode && ![.nothing, .appPassword].contains($0.rule) }
            self?.ask(PasscodeWords.removeConsequences(deleted: doomed, unreadable: kept))
        }
    }

    private func count(_ ask: @escaping @MainActor @Sendable ([StoredItem]) -> Void) {
        let control = control
        Work.run { () throws(SettingsFailure) in
            try control.items()
        } done: { [weak self] result in
            switch result {
            case .failure(let failure): self?.host.show(failure)
            case .success(let items): ask(items)
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
        perform(
            .keychain(WindowWords.answerPrompt, done: PasscodeWords.wasRemoved) { (control) throws(SettingsFailure) in
                try control.removePasscode()
            })
    }

    // MARK: - A forgotten passcode

    private func recover() {
        let control = KeychainControl()
        perform(
            Operation(
                waiting: WindowWords.answerPrompt, cancel: { control.cancel() },
                body: { _ throws(SettingsFailure) in
                    Operation.Outcome(report: ForgottenWords.report(try control.recoverPasscode()))
                }, done: { [weak self] in self?.result.show($0.report) }))
    }

    private func askToDiscard() {
        guard shown?.listsItems == true else { return askToDiscard(nil) }
        count { [weak self] items in
            self?.askToDiscard(items.filter(\.isDiscardedWithPasscode))
        }
    }

    private func askToDiscard(_ items: [StoredItem]?) {
        guard let window = host.window else { return }
        Question.ask(
            over: window, heading: ForgottenWords.question, body: ForgottenWords.consequences(items),
            decline: WindowWords.cancelMnemonic, agree: ForgottenWords.agree, isDestructive: true,
            typing: (ForgottenWords.word, ForgottenWords.typeIt)
        ) { [weak self] in self?.discard() }
    }

    private func discard() {
        let asks = shown?.listsItems == false
        perform(
            .keychain(
                asks ? WindowWords.answerPrompt : ForgottenWords.deleting, done: ForgottenWords.wereDeleted
            ) { (control) throws(SettingsFailure) in
                try control.discardForgotten()
            })
    }
}
