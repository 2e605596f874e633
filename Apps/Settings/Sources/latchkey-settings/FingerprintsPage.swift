// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
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
    private var readerChoice: Choice?
    private var readerRow: Row?
    private let control = FingerprintControl()
    private let reading = Reading<[FingerprintControl.Reader]>()
    private var shown: Result<[FingerprintControl.Reader], SettingsFailure>?

    init(_ host: any PageHost) {
        self.host = host
        choice = Choice(FingerprintWords.finger) { _ in }
        stack = Stack([
            "starting": EmptyPlace(), "empty": Page(place, width: 480),
            "list": Page(Box(.down, spacing: 24, [enrolled, new]), width: 600, isCentred: false),
        ])
        content = stack
        let readerChoice = Choice(FingerprintWords.reader) { [weak self] _ in self?.showFingers() }
        let readerRow = Row(FingerprintWords.reader, suffix: [readerChoice])
        (self.readerChoice, self.readerRow) = (readerChoice, readerRow)
        let enroll = MnemonicButton(FingerprintWords.enroll, styles: ["suggested-action"]) { [weak self] in
            self?.enroll()
        }
        new.show([readerRow, Row(FingerprintWords.finger, suffix: [choice, enroll])])
    }

    func refresh(_ overview: KeychainOverview?) {
        let control = control
        reading.begin { () throws(SettingsFailure) in
            try control.readers()
        } done: { [weak self] result in
            guard let self, result != shown else { return }
            show(result)
        }
    }

    private func show(_ result: Result<[FingerprintControl.Reader], SettingsFailure>) {
        shown = result
        switch result {
        case .failure(let failure):
            place.show(
                icon: "auth-fingerprint-symbolic", title: FingerprintWords.unusable,
                words: FingerprintWords.explanation(failure))
            stack.page = "empty"
        case .success(let readers) where readers.isEmpty:
            place.show(
                icon: "auth-fingerprint-symbolic", title: FingerprintWords.noReader,
                words: FingerprintWords.noReaderText)
            stack.page = "empty"
        case .success(let readers):
            enrolled.setDescription(readers.map(\.name).joined(separator: ", "))
            let rows = readers.flatMap { self.rows($0, isOnlyReader: readers.count == 1) }
            enrolled.show(rows.isEmpty ? [Row(FingerprintWords.none, subtitle: FingerprintWords.noneText)] : rows)
            readerChoice?.show(readers.map(\.name), selected: 0)
            readerRow?.isVisible = readers.count > 1
            showFingers()
            stack.page = "list"
        }
    }

    private func rows(_ reader: FingerprintControl.Reader, isOnlyReader: Bool) -> [Row] {
        reader.fingers.map { finger in
            let name = FingerprintWords.name(finger)
            let delete = Button(
                FingerprintWords.delete(name), icon: "user-trash-symbolic", showsTitle: false, styles: ["flat"]
            ) { [weak self] in self?.askToDelete(finger, on: reader) }
            return Row(
                name, subtitle: isOnlyReader ? "" : reader.name, icon: "auth-fingerprint-symbolic", suffix: [delete])
        }
    }

    /// The reader on which a finger is enrolled.
    private var chosenReader: FingerprintControl.Reader? {
        guard case .success(let readers)? = shown, !readers.isEmpty else { return nil }
        let number = readerChoice?.selected ?? 0
        return readers.indices.contains(number) ? readers[number] : readers[0]
    }

    /// The fingers in the order in which they are offered: first those that are not enrolled on the reader.
    private func offered(_ reader: FingerprintControl.Reader) -> [String] {
        FingerprintControl.fingers.filter { !reader.fingers.contains($0) } + reader.fingers
    }

    private func showFingers() {
        guard let reader = chosenReader else { return }
        choice.show(offered(reader).map(FingerprintWords.name), selected: 0)
    }

    // MARK: - Actions

    private func enroll() {
        guard let reader = chosenReader else { return }
        let fingers = offered(reader)
        guard fingers.indices.contains(choice.selected) else { return }
        let finger = fingers[choice.selected]
        guard reader.fingers.contains(finger) else { return enroll(finger, on: reader, replaces: false) }
        guard let window = host.window else { return }
        Question.ask(
            over: window, heading: FingerprintWords.replaceQuestion(FingerprintWords.name(finger)),
            body: FingerprintWords.replaceText, decline: WindowWords.cancelMnemonic, agree: FingerprintWords.replace,
            isDestructive: true
        ) { [weak self] in self?.enroll(finger, on: reader, replaces: true) }
    }

    private func enroll(_ finger: String, on reader: FingerprintControl.Reader, replaces: Bool) {
        let control = FingerprintControl()
        let isSwiped = reader.isSwiped
        let name = FingerprintWords.name(finger)
        host.perform(
            Operation(
                waiting: FingerprintWords.begin(name, isSwiped: isSwiped), cancel: { control.cancel() },
                body: { report throws(SettingsFailure) in
                    try control.enroll(finger, on: reader, replaces: replaces) { progress in
                        report(
                            Operation.Progress(
                                words: FingerprintWords.progress(progress, isSwiped: isSwiped),
                                part: progress.total > 0 ? Double(progress.passed) / Double(progress.total) : nil))
                    }
                    return Operation.Outcome(words: FingerprintWords.isEnrolled(name))
                }))
    }

    private func askToDelete(_ finger: String, on reader: FingerprintControl.Reader) {
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
                        try control.delete(finger, on: reader)
                        return Operation.Outcome(words: FingerprintWords.isDeleted(name))
                    }))
        }
    }
}
