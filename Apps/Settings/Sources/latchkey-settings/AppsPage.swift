// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The items by app: names and rules. It shows no secret and cannot ask for one: the daemon gives an item to its app only.
/// The system's daemon gives the names and rules only after the user agreed at a prompt.
@MainActor final class AppsPage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let place = EmptyPlace()
    private let groups = Box(.down, spacing: 24)
    private let more = Label(styles: ["dim-label"], isCentred: true)
    private let stack: Stack
    private var search: SearchField?
    private var items: [StoredItem] = []
    private var shown: [StoredItem]?
    /// The apps of the items that the menu of the desktop has, by their access groups.
    private var installed: [String: InstalledApp] = [:]
    private var asksAtPrompt = false
    /// The number of the latest reading. The result of an earlier one is not shown.
    private var reading = 0
    private var groupOfApp: [RowGroup] = []
    private let answers: AnswersGroup
    /// Above a list to which the user agreed.
    private let allowed = RowGroup(name: AppsWords.listedTitle)
    /// Below the explanation why there is no list.
    private let ask = Box(.down)

    /// Maximum rows; more are found by a search.
    private static let rowLimit = 300

    init(_ host: any PageHost) {
        self.host = host
        answers = AnswersGroup(host)
        let list = Box(.down, spacing: 12, [groups, more])
        stack = Stack(["list": list, "empty": Box(.down, spacing: 18, [place, ask])])
        let column = Box(.down, spacing: 18)
        content = Page(column, width: 600, isCentred: false)
        let search = SearchField(AppsWords.search) { [weak self] _ in self?.draw() }
        search.setPlaceholder(AppsWords.search)
        column.append(allowed)
        column.append(answers.content)
        column.append(search)
        column.append(stack)
        self.search = search
        let button = MnemonicButton(AppsWords.list, styles: ["pill", "suggested-action"]) { [weak self] in
            self?.host.listItems()
        }
        button.centre(down: false)
        ask.append(button)
    }

    func startSearch() { search?.focus() }

    func refresh(_ overview: KeychainOverview?) {
        guard let overview else { return }
        reading += 1
        asksAtPrompt = !overview.listsItems
        guard overview.listsItems else { return showListed(overview) }
        ask.isVisible = false
        allowed.show([])
        if let failure = host.unread { return host.show(failure) }
        items = host.items
        draw()
        let (control, thisReading) = (control, reading)
        Work.run { () throws(SettingsFailure) in
            AnsweredProgram.all(try control.programAnswers())
        } done: { [weak self] result in
            guard let self, thisReading == reading else { return }
            switch result {
            case .failure(let failure): host.show(failure)
            case .success(let programs): answers.show(programs, asksAtPrompt: false)
            }
        }
    }

    func forgetNames() {
        reading += 1
        items = []
        allowed.show([])
        answers.show([], asksAtPrompt: false)
        draw()
    }

    /// Shows what a keychain of the system listed after a prompt, or why there is no list.
    private func showListed(_ overview: KeychainOverview) {
        guard let listed = host.listed else {
            items = []
            show([])
            allowed.show([])
            answers.show([], asksAtPrompt: true)
            search?.isVisible = false
            place.show(
                icon: "view-app-grid-symbolic", title: AppsWords.separateTitle, words: AppsWords.separate(overview))
            ask.isVisible = overview.isPasscodeSet && !overview.isLocked
            stack.page = "empty"
            return
        }
        ask.isVisible = false
        let again = MnemonicButton(AppsWords.listAgain) { [weak self] in self?.host.listItems() }
        let isOutdated = listed.itemCount != overview.itemCount
        allowed.show([
            Row(
                AppsWords.listedTitle, subtitle: isOutdated ? AppsWords.isOutdated : AppsWords.isComplete,
                icon: isOutdated ? "dialog-warning-symbolic" : "view-reveal-symbolic", suffix: [again])
        ])
        items = listed.items
        if let programs = listed.answers, !programs.isEmpty {
            answers.show(programs, asksAtPrompt: true)
        } else if items.contains(where: { $0.kind == .secret }) {
            answers.offer()
        } else {
            answers.show([], asksAtPrompt: true)
        }
        draw()
        findApps(overview.protection)
    }

    /// Looks the apps up in the menu of the desktop, which takes reading files.
    private func findApps(_ protection: KeychainOverview.Protection) {
        let (groups, thisReading) = (Set(items.map(\.app)), reading)
        Work.run { () throws(SettingsFailure) in
            groups.reduce(into: [String: InstalledApp]()) { $0[$1] = InstalledApp(named: $1, protection: protection) }
        } done: { [weak self] result in
            guard let self, thisReading == reading, case .success(let found) = result, found != installed else {
                return
            }
            installed = found
            shown = nil
            draw()
        }
    }

    private func draw() {
        let wanted = search?.text.lowercased() ?? ""
        let found = items.filter { item in
            wanted.isEmpty
                || [
                    AppsWords.app(item.app, installed[item.app]), item.app, item.name, item.place, item.label,
                    item.appKind,
                ].contains { $0.lowercased().contains(wanted) }
        }
        search?.isVisible = !items.isEmpty
        guard !found.isEmpty else {
            place.show(
                icon: "view-app-grid-symbolic", title: AppsWords.emptyTitle,
                words: items.isEmpty ? AppsWords.empty : AppsWords.nothingFound)
            stack.page = "empty"
            return show([])
        }
        stack.page = "list"
        let rows = Array(found.prefix(Self.rowLimit))
        more.show(found.count > rows.count ? AppsWords.more(found.count - rows.count) : nil)
        show(rows)
    }

    /// Whether the app has the other key of a pair under the same name.
    private func isOfPair(_ item: StoredItem) -> Bool {
        let other: StoredItem.Kind
        switch item.kind {
        case .privateKey: other = .publicKey
        case .publicKey: other = .privateKey
        case .password, .internetPassword, .certificate, .secret: return false
        }
        return items.contains { $0.kind == other && $0.app == item.app && $0.title == item.title }
    }

    private func show(_ rows: [StoredItem]) {
        guard rows != shown else { return }
        shown = rows
        var apps: [(name: String, items: [StoredItem])] = []
        for item in rows {
            if apps.last?.name == item.app {
                apps[apps.count - 1].items.append(item)
            } else {
                apps.append((item.app, [item]))
            }
        }
        // Groups are reused, because a box cannot lose a widget.
        while groupOfApp.count < apps.count {
            let group = RowGroup()
            groupOfApp.append(group)
            groups.append(group)
        }
        for (number, group) in groupOfApp.enumerated() {
            guard number < apps.count else {
                group.show([])
                continue
            }
            let app = apps[number]
            let name = AppsWords.app(app.name, installed[app.name])
            group.setTitle(name)
            group.setDescription(AppsWords.count(app.items.count))
            group.show(
                app.items.map { item in
                    Row(
                        AppsWords.name(item), subtitle: AppsWords.subtitle(item, isOfPair: isOfPair(item)),
                        icon: AppsWords.icon(item), app: installed[app.name]?.icon,
                        mark: item.isOpen ? (OpenWords.icon, OpenWords.mark) : nil
                    ) { [weak self] in
                        guard let self else { return }
                        ItemDialog.show(item, app: name, asksAtPrompt: asksAtPrompt, host)
                    }
                })
        }
    }
}
