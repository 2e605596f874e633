// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The audit log: which app asked for what and when.
@MainActor final class ActivityPage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let group = RowGroup(name: WindowWords.page(.activity))
    private let place = EmptyPlace()
    private let stack: Stack
    private let older: Box
    /// The button that asks the user for the names of items.
    private let unnamed = Box(.down)
    private var choice: Choice?
    private var search: SearchField?
    private var entries: [ActivityEntry] = []
    private var names: [String: String] = [:]
    /// Whether the names of all items are known.
    private var isNamed = true
    /// The app whose entries are shown; nil for all.
    private var app: String?
    /// The number of readings of the latest entries. The result of an earlier one is not shown.
    private var refreshes = 0
    /// How often the names were removed. What was being read then is not shown.
    private var removals = 0
    private var hasOlder = false
    /// How many times `pageSize` entries are shown at most.
    private var pages = 1

    /// Entries that are read at once.
    private nonisolated static let pageSize = 100

    init(_ host: any PageHost) {
        self.host = host
        older = Box(.down)
        let filters = Box(.across, spacing: 12)
        let list = Box(.down, spacing: 12, [unnamed, group, older])
        stack = Stack(["list": list, "empty": place])
        content = Page(Box(.down, spacing: 18, [filters, stack]), width: 600, isCentred: false)
        let search = SearchField(ActivityWords.search) { [weak self] _ in self?.draw() }
        search.setPlaceholder(ActivityWords.search)
        search.expand(across: true)
        let choice = Choice(ActivityWords.filter) { [weak self] number in self?.choose(number) }
        filters.append(search)
        filters.append(choice)
        (self.search, self.choice) = (search, choice)
        let more = MnemonicButton(ActivityWords.older, styles: ["pill"]) { [weak self] in self?.readOlder() }
        more.centre(down: false)
        older.append(more)
        let name = MnemonicButton(ActivityWords.showNames, styles: ["flat"]) { [weak self] in self?.host.listItems() }
        name.centre(down: false)
        unnamed.append(name)
    }

    func startSearch() { search?.focus() }

    func refresh(_ overview: KeychainOverview?) {
        guard let overview else { return }
        isNamed = overview.listsItems
        unnamed.isVisible = !isNamed && host.listed == nil && overview.isPasscodeSet && !overview.isLocked
        read(before: nil)
    }

    func forgetNames() {
        removals += 1
        names = [:]
        draw()
    }

    private func readOlder() {
        guard let last = entries.last else { return }
        read(before: last.id)
    }

    private func read(before number: Int64?) {
        if number == nil { refreshes += 1 }
        let (refresh, removal) = (refreshes, removals)
        let (control, isNamed, listed) = (control, isNamed, host.listed?.items ?? [])
        Work.run { () throws(SettingsFailure) in
            (try control.activity(before: number, limit: Self.pageSize), isNamed ? try control.items() : listed)
        } done: { [weak self] result in
            // Older entries are shown although new ones were read meanwhile.
            guard let self, removal == removals, number.map({ $0 == entries.last?.id }) ?? (refresh == refreshes) else {
                return
            }
            switch result {
            case .failure(let failure): host.show(failure)
            case .success((let read, let items)):
                if refresh == refreshes {
                    names = Dictionary(items.map { ($0.id, AppsWords.name($0)) }) { first, _ in first }
                }
                if number != nil { pages += 1 }
                // New entries displace the oldest ones, so that an open window does not grow.
                let known = number == nil ? entries.updated(with: read) : entries + read
                entries = Array(known.prefix(pages * Self.pageSize))
                hasOlder = (entries.last?.id ?? 1) > 1
                draw()
            }
        }
    }

    private var apps: [String] { Set(entries.map(\.app).filter { !$0.isEmpty }).sorted() }

    private func choose(_ number: Int) {
        app = number == 0 ? nil : apps[number - 1]
        draw()
    }

    /// What the rows were made of, so that they are only replaced when they change.
    private var drawn: [String] = []

    private func draw() {
        let apps = apps
        choice?.show(
            [ActivityWords.allApps] + apps, selected: app.flatMap { apps.firstIndex(of: $0) }.map { $0 + 1 } ?? 0)
        let wanted = search?.text.lowercased() ?? ""
        let found = entries.filter { entry in
            (app == nil || entry.app == app)
                && (wanted.isEmpty || sentence(entry).lowercased().contains(wanted))
        }
        older.isVisible = hasOlder
        guard !found.isEmpty else {
            place.show(
                icon: "document-open-recent-symbolic", title: ActivityWords.emptyTitle,
                words: entries.isEmpty ? ActivityWords.empty : ActivityWords.nothingFound)
            // Older entries may match.
            stack.page = hasOlder ? "list" : "empty"
            if hasOlder { show([]) }
            return
        }
        stack.page = "list"
        show(found)
    }

    private func show(_ found: [ActivityEntry]) {
        let lines = found.map { "\($0.id) \(sentence($0))" }
        guard lines != drawn else { return }
        drawn = lines
        group.show(
            found.map { entry in
                let row = Row(
                    sentence(entry), subtitle: ActivityWords.subtitle(entry), icon: ActivityWords.icon(entry))
                return row
            })
    }

    private func sentence(_ entry: ActivityEntry) -> String {
        ActivityWords.sentence(entry, item: names[entry.item], isNamed: isNamed)
    }
}
