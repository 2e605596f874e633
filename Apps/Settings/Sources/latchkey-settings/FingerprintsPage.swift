// SPDX-License-Identifier: Apache-2.0

import LatchkeySettings
import Widgets

/// The enrolled fingers: lists, enrols and deletes them.
@MainActor final class FingerprintsPage: SettingsPage {
    let content: Widget
    let needsKeychain = false
    private unowned let host: any PageHost
    private let place = EmptyPlace()
    private let enrolled = RowGroup(FingerprintWords.enrolled)
    private let new = RowGroup(FingerprintWords.new, description: FingerprintWords.consequence)
    private let stack: Stack
    private let choice: Choice
    private let reading = FingerprintControl()
    private var shown: Result<FingerprintControl.Reader?, SettingsFailure>?
    private var isReading = false

    init(_ host: any PageHost) {
        self.host = host
        choice = Choice(FingerprintWords.finger) { _ in }
        stack = Stack([
            "starting": EmptyPlace(), "empty": Page(place, width: 480),
            "list": Page(Box(.down, spacing: 24, [enrolled, new]), width: 600, isCentred: false),
        ])
        content = stack
        let enrol = MnemonicButton(FingerprintWords.enrol, styles: ["suggested-action"]) { [weak self] in self?.enrol()
        }
        new.show([Row(FingerprintWords.finger, suffix: [choice, enrol])])
    }

    func refresh(_ overview: KeychainOverview?) {
        guard !isReading else { return }
        isReading = true
        let reading = reading
        Work.run { () throws(SettingsFailure) in
            try reading.reader()
        } done: { [weak self] result in
            guard let self else { return }
            isReading = false
            if result != shown { show(result) }
        }
    }

    private func show(_ result: Result<FingerprintControl.Reader?, SettingsFailure>) {
        shown = result
        switch result {
        case .failure(let failure):
            place.show(
                icon: "auth-fingerprint-symbolic", title: FingerprintWords.unusable,
                words: FingerprintWords.explanation(failure))
            stack.page = "empty"
        case .success(nil):
            place.show(
                icon: "auth-fingerprint-symbolic", title: FingerprintWords.noReader,
                words: FingerprintWords.noReaderText)
            stack.page = "empty"
        case .success(let reader?):
            enrolled.setDescription(reader.name)
            enrolled.show(rows(reader))
            let missing = FingerprintControl.fingers.filter { !reader.fingers.contains($0) }
            choice.show((missing + reader.fingers).map(FingerprintWords.name), selected: 0)
            stack.page = "list"
        }
    }

    private func rows(_ reader: FingerprintControl.Reader) -> [Row] {
        guard !reader.fingers.isEmpty else { return [Row(FingerprintWords.none, subtitle: FingerprintWords.noneText)] }
        return reader.fingers.map { finger in
            let name = FingerprintWords.name(finger)
            let delete = Button(
                FingerprintWords.delete(name), icon: "user-trash-symbolic", showsTitle: false, styles: ["flat"]
            ) { [weak self] in self?.askToDelete(finger) }
            return Row(name, icon: "auth-fingerprint-symbolic", suffix: [delete])
        }
    }

    // MARK: - Actions

    private func enrol() {
        guard case .success(let reader?)? = shown else { return }
        let missing = FingerprintControl.fingers.filter { !reader.fingers.contains($0) }
        let fingers = missing + reader.fingers
        guard fingers.indices.contains(choice.selected) else { return }
        let finger = fingers[choice.selected]
        guard reader.fingers.contains(finger) else { return enrol(finger, isSwiped: reader.isSwiped) }
        guard let window = host.window else { return }
        Question.ask(
            over: window, heading: FingerprintWords.replaceQuestion(FingerprintWords.name(finger)),
            body: FingerprintWords.replaceText, decline: WindowWords.cancelMnemonic, agree: FingerprintWords.replace,
            isDestructive: true
        ) { [weak self] in self?.enrol(finger, isSwiped: reader.isSwiped) }
    }

    private func enrol(_ finger: String, isSwiped: Bool) {
        let control = FingerprintControl()
        let name = FingerprintWords.name(finger)
        host.perform(
            Operation(
                waiting: FingerprintWords.begin(name, isSwiped: isSwiped), cancel: { control.cancel() },
                body: { report throws(SettingsFailure) in
                    try control.enrol(finger) { progress in
                        report(
                            Operation.Progress(
                                words: FingerprintWords.progress(progress, isSwiped: isSwiped),
                                part: progress.total > 0 ? Double(progress.passed) / Double(progress.total) : nil))
                    }
                    return Operation.Outcome(words: FingerprintWords.isEnrolled(name))
                }))
    }

    private func askToDelete(_ finger: String) {
        guard let window = host.window else { return }
        let name = FingerprintWords.name(finger)
        Question.ask(
            over: window, heading: FingerprintWords.deleteQuestion(name), body: FingerprintWords.consequence,
            decline: WindowWords.cancelMnemonic, agree: FingerprintWords.deleteAgree, isDestructive: true
        ) { [weak self] in
            let control = FingerprintControl()
            self?.host.perform(
                Operation(
                    waiting: FingerprintWords.deleting, cancel: { control.cancel() },
                    body: { _ throws(SettingsFailure) in
                        try control.delete(finger)
                        return Operation.Outcome(words: FingerprintWords.isDeleted(name))
                    }))
        }
    }
}
