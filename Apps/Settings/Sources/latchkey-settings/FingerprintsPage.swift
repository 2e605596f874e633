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
    private let new = RowGroup(FingerprintWords.new)
    private let result: ResultGroup
    private let notices = RowGroup(name: FingerprintWords.notices)
    private let stack: Stack
    private let enrolment = EnrolmentPlace()
    /// The page of the stack without an enrolment.
    private var opened = "starting" { didSet { turn() } }
    private let choice: Choice
    private var readerChoice: Choice?
    private var readerRow: Row?
    private let control = FingerprintControl()
    private let reading = Reading<Found>()
    private var shown: Result<Found, SettingsFailure>?

    /// The readers, and what the page says about them.
    private struct Found: Equatable {
        let readers: [FingerprintControl.Reader]
        /// Why the fingers on them are of no use; nil if they are, or if there are none.
        let hindrance: Health.SensorHindrance?
        /// The items that are bound to the fingers; nil if they are not known.
        let bound: [StoredItem]?
        let isPasscodeSet: Bool
    }

    init(_ host: any PageHost) {
        self.host = host
        result = ResultGroup(host)
        choice = Choice(FingerprintWords.finger) { _ in }
        stack = Stack([
            "starting": EmptyPlace(), "empty": Page(place, width: 480), "enrolling": enrolment.content,
            "list": Page(
                Box(.down, spacing: 24, [result.content, notices, enrolled, new]), width: 600, isCentred: false),
        ])
        content = stack
        let readerChoice = Choice(FingerprintWords.reader) { [weak self] _ in self?.showFingers() }
        let readerRow = Row(FingerprintWords.reader, suffix: [readerChoice])
        (self.readerChoice, self.readerRow) = (readerChoice, readerRow)
        let enroll = MnemonicButton(FingerprintWords.enroll, styles: ["suggested-action"]) { [weak self] in
            self?.enroll()
        }
        for widget in [choice, enroll] as [Widget] { widget.centre(across: false) }
        let ends = Beside(choice, enroll)
        new.show([readerRow, Row(FingerprintWords.finger, suffix: [ends])])
        enrolment.turned = { [weak self] in self?.turn() }
    }

    func leave() { result.leave() }

    func forgetNames() { result.leave() }

    private func turn() { stack.page = enrolment.isShown ? "enrolling" : opened }

    func refresh(_ overview: KeychainOverview?) {
        let (control, items, isKnown) = (control, host.items, host.unread == nil)
        let listsItems = overview?.listsItems == true || host.listed != nil
        reading.begin { () throws(SettingsFailure) in
            let readers = try control.readers()
            let isUnused = overview.map { $0.sensor == .none && $0.protection != .simulated } ?? false
            let hasFingers = readers.contains { !$0.fingers.isEmpty }
            // A keychain that cannot list its items now is like one that does so after a prompt only: they are not known.
            let bound = listsItems && isKnown ? items.filter { $0.rule == .currentBiometry } : nil
            return Found(
                readers: readers, hindrance: hasFingers && isUnused ? Health.sensorHindrance() : nil,
                bound: overview?.itemCount == 0 ? [] : bound,
                isPasscodeSet: overview?.isPasscodeSet ?? true)
        } done: { [weak self] result in
            guard let self, result != shown else { return }
            show(result)
        }
    }

    private func show(_ result: Result<Found, SettingsFailure>) {
        shown = result
        switch result {
        case .failure(let failure):
            place.show(
                icon: "auth-fingerprint-symbolic", title: FingerprintWords.unusable,
                words: FingerprintWords.explanation(failure))
            opened = "empty"
        case .success(let found) where found.readers.isEmpty:
            place.show(
                icon: "auth-fingerprint-symbolic", title: FingerprintWords.noReader,
                words: FingerprintWords.noReaderText)
            opened = "empty"
        case .success(let found):
            let readers = found.readers
            notices.show(noticeRows(found))
            new.setDescription(FingerprintWords.consequence(found.bound))
            enrolled.setDescription(FingerprintWords.readers(readers))
            let rows = readers.flatMap { self.rows($0, isOnlyReader: readers.count == 1) }
            enrolled.show(rows.isEmpty ? [Row(FingerprintWords.none, subtitle: FingerprintWords.noneText)] : rows)
            readerChoice?.show(readers.map(\.name), selected: 0)
            readerRow?.isVisible = readers.count > 1
            showFingers()
            opened = "list"
        }
    }

    /// What keeps fingers from being used.
    private func noticeRows(_ found: Found) -> [Row] {
        var rows: [Row] = []
        if !found.isPasscodeSet {
            let set = MnemonicButton(BackupWords.setPasscode, styles: ["suggested-action"]) { [weak self] in
                guard let self else { return }
                host.perform(.settingPasscode(shownIn: result))
            }
            rows.append(Row(BackupWords.passcodeTitle, subtitle: FingerprintWords.passcodeText, suffix: [set]))
        }
        if let hindrance = found.hindrance {
            let row = Row(
                FingerprintWords.unusedTitle, subtitle: FingerprintWords.reason(hindrance),
                icon: "dialog-warning-symbolic")
            row.showIcon("dialog-warning-symbolic", style: "warning")
            rows.append(row)
        }
        return rows
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
        guard case .success(let found)? = shown, !found.readers.isEmpty else { return nil }
        let readers = found.readers
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

    /// A text, and what a change of the fingers does to items.
    private func joined(_ text: String) -> String {
        guard case .success(let found)? = shown else { return text }
        return [text, FingerprintWords.consequence(found.bound)].filter { !$0.isEmpty }.joined(separator: "\n\n")
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
            body: joined(FingerprintWords.replaceText), decline: WindowWords.cancelMnemonic,
            agree: FingerprintWords.replace,
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
                                words: FingerprintWords.progress(progress, name, isSwiped: isSwiped),
                                part: progress.total > 0 ? Double(progress.passed) / Double(progress.total) : nil))
                    }
                    return Operation.Outcome(words: FingerprintWords.isEnrolled(name))
                }, display: enrolment))
    }

    /// Whether no other finger is enrolled on any reader.
    private func isOnly(_ finger: String) -> Bool {
        guard case .success(let found)? = shown else { return false }
        return found.readers.flatMap(\.fingers) == [finger]
    }

    private func askToDelete(_ finger: String, on reader: FingerprintControl.Reader) {
        guard let window = host.window else { return }
        let name = FingerprintWords.name(finger)
        Question.ask(
            over: window, heading: FingerprintWords.deleteQuestion(name),
            body: joined(FingerprintWords.deleteText(isLast: isOnly(finger))),
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
