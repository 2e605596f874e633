// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// Writes and reads backups. The recovery code is shown and entered at the daemon's prompt only.
@MainActor final class BackupPage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let group = RowGroup(description: BackupWords.description, name: WindowWords.page(.backup))
    private let limits = RowGroup(name: BackupWords.limitsName)
    /// What the last backup contains, or what was restored, until another page is open.
    private let result: ResultGroup
    /// What decides which rows there are.
    private struct State: Equatable {
        let isPasscodeSet: Bool
        /// Whether nothing may be in a backup.
        let isEmpty: Bool
    }
    private var shown: State?
    private var shownLimits: String?

    init(_ host: any PageHost) {
        self.host = host
        result = ResultGroup(host)
        content = Page(Box(.down, spacing: 24, [result.content, group, limits]), width: 600, isCentred: false)
        limits.show([])
    }

    func leave() { result.leave() }

    func forgetNames() { showLimits([], .user) }

    func refresh(_ overview: KeychainOverview?) {
        if let overview { showLimits(host.items, overview.protection) }
        guard let overview else { return }
        // Unknown items may be in a backup.
        let isKnown = overview.listsItems && host.unread == nil && host.items.count == Int(clamping: overview.itemCount)
        let isEmpty = isKnown && !host.items.contains(where: \.isInBackups)
        let state = State(isPasscodeSet: overview.isPasscodeSet, isEmpty: isEmpty)
        guard state != shown else { return }
        shown = state
        guard overview.isPasscodeSet else {
            // Without a passcode, the user could not authorise to read or write the items of other apps.
            let set = MnemonicButton(BackupWords.setPasscode, styles: ["suggested-action"]) { [weak self] in
                guard let self else { return }
                host.perform(.settingPasscode(shownIn: result))
            }
            return group.show([
                Row(BackupWords.passcodeTitle, subtitle: BackupWords.passcodeText, suffix: [set])
            ])
        }
        let restore = MnemonicButton(BackupWords.restore) { [weak self] in self?.chooseBackup() }
        let read = Row(BackupWords.restoreTitle, subtitle: BackupWords.restoreText, suffix: [restore])
        let create = MnemonicButton(BackupWords.create, styles: ["suggested-action"]) { [weak self] in self?.chooseNew()
        }
        create.isSensitive = !isEmpty
        let text = isEmpty ? BackupWords.nothingText : BackupWords.createText
        group.show([Row(BackupWords.createTitle, subtitle: text, suffix: [create]), read])
    }

    /// Says before a backup is made what it will not contain, as far as the items are known.
    private func showLimits(_ items: [StoredItem], _ protection: KeychainOverview.Protection) {
        let counts = items.filter(\.staysHere).reduce(into: [String: Int]()) { $0[$1.app, default: 0] += 1 }
        let apps = counts.sorted { $0.key < $1.key }.map { app, count in
            (name: AppsWords.app(app, InstalledApp(named: app, protection: protection)), count: count)
        }
        let text = BackupWords.staysHere(apps)
        guard text != shownLimits else { return }
        shownLimits = text
        guard !apps.isEmpty else { return limits.show([]) }
        let row = Row(text, subtitle: BackupWords.staysHereText, icon: "dialog-warning-symbolic")
        row.showIcon("dialog-warning-symbolic", style: "warning")
        limits.show([row])
    }

    // MARK: - Actions

    private func chooseNew() {
        guard let window = host.window else { return }
        FileChooser.ask(
            over: window, title: BackupWords.createTitle, accept: BackupWords.save, decline: WindowWords.cancelMnemonic,
            newName: BackupWords.fileName
        ) { [weak self] path in self?.write(path) }
    }

    private func write(_ path: [UInt8]) {
        let items = host.items.filter(\.isInBackups)
        transfer(BackupWords.writing, BackupWords.written) { (control, progress) throws(SettingsFailure) in
            // The dialog has asked before it replaces a file.
            let result = try control.writeBackup(to: path, mayReplace: true, progress: progress)
            return BackupWords.report(result, savedAs: path, items)
        }
    }

    private func chooseBackup() {
        guard let window = host.window else { return }
        FileChooser.ask(
            over: window, title: BackupWords.restoreTitle, accept: BackupWords.open,
            decline: WindowWords.cancelMnemonic,
            newName: nil
        ) { [weak self] path in self?.read(path) }
    }

    private func read(_ path: [UInt8]) {
        transfer(BackupWords.reading, BackupWords.added) { (control, progress) throws(SettingsFailure) in
            BackupWords.report(try control.readBackup(from: path, progress: progress))
        }
    }

    /// Performs a transfer, whose progress is a number of items and whose result is listed on the page.
    private func transfer(
        _ waiting: String, _ words: @escaping @Sendable (Int) -> String,
        _ body: @escaping @Sendable (KeychainControl, (Int) -> Void) throws(SettingsFailure) -> [Operation.Outcome.Line]
    ) {
        let control = KeychainControl()
        leave()
        host.perform(
            Operation(
                waiting: waiting, cancel: { control.cancel() },
                body: { report throws(SettingsFailure) in
                    let lines = try body(control) { report(Operation.Progress(words: words($0))) }
                    return Operation.Outcome(report: lines)
                }, done: { [weak self] outcome in self?.result.show(outcome.report) }))
    }
}
