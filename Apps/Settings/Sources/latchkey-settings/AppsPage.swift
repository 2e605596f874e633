// SPDX-License-Identifier: Apache-2.0

import LatchkeySettings
import Widgets

/// The items by app: names and rules. It shows no secret and cannot ask for one: the daemon gives an item to its app only.
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
    private var isReading = false
    private var groupOfApp: [RowGroup] = []

    /// Maximum rows; more are found by a search.
    private static let rowLimit = 300

    init(_ host: any PageHost) {
        self.host = host
        let list = Box(.down, spacing: 12, [groups, more])
        stack = Stack(["list": list, "empty": place])
        let column = Box(.down, spacing: 18)
        content = Page(column, width: 600, isCentred: false)
        let search = SearchField(AppsWords.search) { [weak self] _ in self?.draw() }
        search.setPlaceholder(AppsWords.search)
        column.append(search)
        column.append(stack)
        self.search = search
    }

    func startSearch() { search?.focus() }

    func refresh(_ overview: KeychainOverview?) {
        guard let overview, !isReading else { return }
        guard overview.listsItems else {
            search?.isVisible = false
            place.show(
                icon: "view-app-grid-symbolic", title: AppsWords.separateTitle,
                words: AppsWords.separate(Int(clamping: overview.itemCount)))
            stack.page = "empty"
            return
        }
        isReading = true
        let control = control
        Work.run { () throws(SettingsFailure) in
            try control.items()
        } done: { [weak self] result in
            guard let self else { return }
            isReading = false
            switch result {
            case .failure(let failure): host.show(failure)
            case .success(let items):
                self.items = items
                draw()
            }
        }
    }

    private func draw() {
        let wanted = search?.text.lowercased() ?? ""
        let found = items.filter { item in
            wanted.isEmpty
                || [item.app, item.name, item.place, item.label].contains { $0.lowercased().contains(wanted) }
        }
        search?.isVisible = !items.isEmpty
        guard !found.isEmpty else {
            place.show(
                icon: "view-app-grid-symbolic", title: AppsWords.emptyTitle,
                words: items.isEmpty ? AppsWords.empty : AppsWords.nothingFound)
            stack.page = "empty"
            return
        }
        stack.page = "list"
        let rows = Array(found.prefix(Self.rowLimit))
        more.show(found.count > rows.count ? AppsWords.more(found.count - rows.count) : nil)
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
            group.setTitle(app.name.isEmpty ? AppsWords.noApp : app.name)
            group.setDescription(AppsWords.count(app.items.count))
            group.show(
                app.items.map {
                    Row(AppsWords.name($0), subtitle: AppsWords.subtitle($0), icon: AppsWords.icon($0.kind))
                })
        }
    }
}
