// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// Writes and reads backups. The recovery code is shown and entered at the daemon's prompt only.
@MainActor final class BackupPage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let group = RowGroup(description: BackupWords.description, name: WindowWords.page(.backup))
    private var isPasscodeSet: Bool?

    init(_ host: any PageHost) {
        self.host = host
        content = Page(Box(.down, [group]), width: 600, isCentred: false)
    }

    func refresh(_ overview: KeychainOverview?) {
        guard let overview, overview.isPasscodeSet != isPasscodeSet else { return }
        isPasscodeSet = overview.isPasscodeSet
        guard overview.isPasscodeSet else {
            // Without a passcode, the user could not authorise to read or write the items of other apps.
            let set = MnemonicButton(BackupWords.setPasscode, styles: ["suggested-action"]) { [weak self] in
                self?.host.open(.passcode)
            }
            return group.show([
                Row(BackupWords.passcodeTitle, subtitle: BackupWords.passcodeText, suffix: [set])
            ])
        }
        let restore = MnemonicButton(BackupWords.restore) { [weak self] in self?.chooseBackup() }
        let read = Row(BackupWords.restoreTitle, subtitle: BackupWords.restoreText, suffix: [restore])
        let create = MnemonicButton(BackupWords.create, styles: ["suggested-action"]) { [weak self] in self?.chooseNew()
        }
        group.show([Row(BackupWords.createTitle, subtitle: BackupWords.createText, suffix: [create]), read])
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
        transfer(BackupWords.writing, BackupWords.written) { (control, progress) throws(SettingsFailure) in
            // The dialog has asked before it replaces a file.
            BackupWords.wrote(try control.writeBackup(to: path, mayReplace: true, progress: progress), path)
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
            BackupWords.restored(try control.readBackup(from: path, progress: progress))
        }
    }

    /// Performs a transfer, whose progress is a number of items and whose result stays until it is dismissed.
    private func transfer(
        _ waiting: String, _ words: @escaping @Sendable (Int) -> String,
        _ body: @escaping @Sendable (KeychainControl, (Int) -> Void) throws(SettingsFailure) -> String
    ) {
        let control = KeychainControl()
        host.perform(
            Operation(
                waiting: waiting, cancel: { control.cancel() },
                body: { report throws(SettingsFailure) in
                    Operation.Outcome(
                        words: try body(control) { report(Operation.Progress(words: words($0))) }, stays: true)
                }))
    }
}
