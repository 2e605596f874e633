// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// What this computer has and lacks, what helps, and which keychain is used.
@MainActor final class HealthPage: SettingsPage {
    let content: Widget
    let needsKeychain = false
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let attention = RowGroup(HealthWords.attention, description: HealthWords.attentionText)
    private let works = RowGroup(HealthWords.works)
    private let absent = RowGroup(HealthWords.absent)
    private let about = RowGroup(HealthWords.about)
    private let examining = Label(HealthWords.examining, styles: ["dim-label"], isCentred: true)
    private var shown: [Health.Row] = []
    private var shownAbout: KeychainOverview??
    private let reading = Reading<[Health.Row]>()

    init(_ host: any PageHost) {
        self.host = host
        content = Page(
            Box(.down, spacing: 24, [examining, attention, works, absent, about]), width: 600, isCentred: false)
        for group in [attention, works, absent] { group.show([]) }
    }

    func refresh(_ overview: KeychainOverview?) {
        show(overview)
        reading.begin { () throws(SettingsFailure) in
            Health.rows()
        } done: { [weak self] result in
            guard let self else { return }
            examining.isVisible = false
            if case .success(let rows) = result, rows != shown { show(rows) }
        }
    }

    private func show(_ rows: [Health.Row]) {
        shown = rows
        attention.show(rows.filter { $0.state == .attention }.map { row($0, "dialog-warning-symbolic", "warning") })
        works.show(rows.filter { $0.state == .works }.map { row($0, "emblem-ok-symbolic", "success") })
        absent.show(rows.filter { $0.state == .absent }.map { row($0, "list-remove-symbolic", "dim-label") })
    }

    private func row(_ row: Health.Row, _ icon: String, _ style: String) -> Row {
        let title = HealthWords.title(row.name)
        var buttons: [Widget] = []
        var subtitle = words(row.found)
        switch row.fix {
        case nil: break
        case .setPasscode, .checkPasscode:
            buttons = [button(HealthWords.openPasscode, title) { [weak self] in self?.host.open(.passcode) }]
        case .startDaemon: buttons = [button(HealthWords.start, title) { [weak self] in self?.startDaemon() }]
        case .startAgent: buttons = [button(HealthWords.start, title) { [weak self] in self?.startAgent() }]
        case .command(let command, let needsRoot):
            // The window runs no command of the shell.
            subtitle += "\n" + HealthWords.command(command, needsRoot: needsRoot)
            buttons = [
                button(HealthWords.copy, title) { [weak self] in
                    Clipboard.put(command)
                    self?.host.tell(HealthWords.copied)
                }
            ]
        }
        let made = Row(title, subtitle: subtitle, icon: icon, suffix: buttons)
        made.showIcon(icon, style: style)
        return made
    }

    private func button(_ title: String, _ row: String, _ action: @escaping @MainActor () -> Void) -> Button {
        let button = Button(title, action)
        button.setAccessibleName(HealthWords.name(title, of: row))
        return button
    }

    private func show(_ overview: KeychainOverview?) {
        guard shownAbout != .some(overview) else { return }
        shownAbout = .some(overview)
        var rows = [Row(HealthWords.version, subtitle: KeychainControl.version)]
        if let overview {
            rows.append(Row(HealthWords.protection, subtitle: HealthWords.text(overview.protection)))
            rows.append(Row(HealthWords.items, subtitle: "\(overview.itemCount)"))
            if overview.damagedCount > 0 {
                rows.append(Row(HealthWords.damaged, subtitle: HealthWords.damagedText(overview.damagedCount)))
            }
            rows.append(Row(HealthWords.place, subtitle: overview.storePath))
        }
        about.show(rows)
    }

    // MARK: - Actions

    private func startDaemon() {
        host.perform(
            .keychain(HealthWords.starting, done: HealthWords.started) { (control) throws(SettingsFailure) in
                _ = try control.overview()
            })
    }

    private func startAgent() {
        host.perform(
            Operation(
                waiting: HealthWords.starting, cancel: nil,
                body: { _ throws(SettingsFailure) in
                    try Health.startAgent()
                    return Operation.Outcome(words: HealthWords.started)
                }))
    }
}
