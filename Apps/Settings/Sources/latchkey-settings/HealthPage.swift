// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// What this computer has and lacks, what helps, and which keychain is used.
@MainActor final class HealthPage: SettingsPage {
    let content: Widget
    let needsKeychain = false
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let attention = RowGroup(
        HealthWords.attention, description: HealthWords.attentionText, name: WindowWords.page(.health))
    private let open = RowGroup(name: OpenWords.name)
    private let works = RowGroup(name: HealthWords.worksName)
    /// Optional parts that are not there, and what only says something to developers.
    private let technical = RowGroup(name: HealthWords.technical)
    private let about = RowGroup(HealthWords.about)
    private let examining = Label(HealthWords.examining, styles: ["dim-label"], isCentred: true)
    private var shown = Found(rows: [], open: nil)
    private var shownAbout: KeychainOverview??
    private let reading = Reading<Found>()

    private struct Found: Equatable {
        let rows: [Health.Row]
        /// The items that apps get without a question although a passcode is set; nil if they are not known.
        let open: OpenItems?
    }

    init(_ host: any PageHost) {
        self.host = host
        content = Page(
            Box(.down, spacing: 24, [examining, attention, open, works, about, technical]), width: 600, isCentred: false
        )
        for group in [attention, open, works, technical] { group.show([]) }
    }

    func forgetNames() { shown = Found(rows: shown.rows, open: nil) }

    func refresh(_ overview: KeychainOverview?) {
        show(overview)
        let items = overview?.isPasscodeSet == true ? host.items : []
        let control = control
        reading.begin { () throws(SettingsFailure) in
            Found(rows: Health.rows(), open: items.isEmpty ? nil : control.openItems(among: items))
        } done: { [weak self] result in
            guard let self else { return }
            examining.isVisible = false
            if case .success(let found) = result, found != shown { show(found) }
        }
    }

    private func show(_ found: Found) {
        showOpen(found.open)
        guard found.rows != shown.rows else {
            shown = found
            return
        }
        shown = found
        let rows = found.rows
        let (ofDevelopers, ofPeople) = (
            rows.filter(HealthWords.isForDevelopers), rows.filter { !HealthWords.isForDevelopers($0) }
        )
        let needy = ofPeople.filter { $0.state == .attention }
        attention.setTitle(needy.isEmpty ? "" : HealthWords.attention)
        attention.setDescription(needy.isEmpty ? "" : HealthWords.attentionText)
        attention.show(needy.isEmpty ? [everythingWorks()] : needy.map(row))
        let working = ofPeople.filter { $0.state == .works }.map(row)
        showFolded(works, working, HealthWords.works(working.count))
        let rest = ofPeople.filter { $0.state == .absent } + ofDevelopers
        showFolded(technical, rest.map(row), HealthWords.technical, HealthWords.technicalText)
    }

    private func showOpen(_ items: OpenItems?) {
        guard let items, !items.items.isEmpty else { return open.show([]) }
        guard items != shown.open || !open.isVisible else { return }
        open.show([
            Row(OpenWords.count(items.items.count), subtitle: OpenWords.text(items), icon: OpenWords.icon) {
                [weak self] in self?.host.open(.apps)
            }
        ])
    }

    private func everythingWorks() -> Row {
        let row = Row(HealthWords.allWorks, icon: "emblem-ok-symbolic")
        row.showIcon("emblem-ok-symbolic", style: "success")
        return row
    }

    /// Shows the number of rows, and the rows themselves only after a press.
    private func showFolded(_ group: RowGroup, _ rows: [Row], _ title: String, _ text: String = "") {
        guard !rows.isEmpty else { return group.show([]) }
        let later = Later()
        let summary = Button(WindowWords.show) { later.run() }
        // The button owns its action, and the action what it changes: a row keeps no widget of its end.
        later.action = {
            summary.showExpanded(!summary.isExpanded)
            for row in rows { row.isVisible = summary.isExpanded }
            summary.title = summary.isExpanded ? WindowWords.hide : WindowWords.show
            summary.setAccessibleName(HealthWords.name(summary.title, of: title))
        }
        summary.setAccessibleName(HealthWords.name(WindowWords.show, of: title))
        summary.showExpanded(false)
        for row in rows { row.isVisible = false }
        group.show([Row(title, subtitle: text, suffix: [summary])] + rows)
    }

    private func row(_ row: Health.Row) -> Row {
        let (icon, style) =
            switch row.state {
            case .attention: ("dialog-warning-symbolic", "warning")
            case .works: ("emblem-ok-symbolic", "success")
            case .absent: ("list-remove-symbolic", "dim-label")
            }
        let title = HealthWords.title(row.name)
        var buttons: [Widget] = []
        var details = HealthWords.details(row)
        // What is copied is shown first.
        var copy: Button?
        switch row.fix {
        case nil: break
        case .setPasscode, .checkPasscode:
            buttons = [button(HealthWords.openPasscode, title) { [weak self] in self?.host.open(.passcode) }]
        case .enrollFinger:
            buttons = [button(HealthWords.openFingerprints, title) { [weak self] in self?.host.open(.fingerprints) }]
        case .startDaemon: buttons = [button(HealthWords.start, title) { [weak self] in self?.startDaemon() }]
        case .startAgent: buttons = [button(HealthWords.start, title) { [weak self] in self?.startAgent() }]
        case .command(let command, let needsRoot):
            // The window runs no command of the shell.
            details += "\n" + HealthWords.command(command, needsRoot: needsRoot)
            copy = button(HealthWords.copy, title) { [weak self] in
                Clipboard.put(command)
                self?.host.tell(HealthWords.copied)
            }
            copy?.isVisible = false
        }
        let (plain, later) = (HealthWords.plain(row), Later())
        let more = button(WindowWords.details, title) { later.run() }
        more.setStyle("flat")
        more.showExpanded(false)
        more.isVisible = !HealthWords.saysItAll(row)
        // Below each other, so that a narrow window has room for the sentence.
        let column = Box(.down, spacing: 2, buttons + [copy, more].compactMap { $0 })
        column.setMargin(6, sides: 0)
        let made = Row(title, subtitle: plain, icon: icon, suffix: [column])
        made.showIcon(icon, style: style)
        let whole = [plain, details].filter { !$0.isEmpty }.joined(separator: "\n")
        later.action = { [copy] in
            more.showExpanded(!more.isExpanded)
            made.show(title, more.isExpanded ? whole : plain)
            copy?.isVisible = more.isExpanded
        }
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
            let later = Later()
            let more = button(WindowWords.details, HealthWords.place) { later.run() }
            more.setStyle("flat")
            more.showExpanded(false)
            let row = Row(HealthWords.place, subtitle: HealthWords.placeText(overview.protection), suffix: [more])
            later.action = {
                row.show(HealthWords.place, overview.storePath)
                more.showExpanded(true)
            }
            rows.append(row)
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
