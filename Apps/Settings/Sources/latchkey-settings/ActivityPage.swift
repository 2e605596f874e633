// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The audit log: which app asked for what and when.
@MainActor final class ActivityPage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let control = KeychainControl()
    /// One group for each day.
    private let days = Box(.down, spacing: 18)
    private var groups: [RowGroup] = []
    private let place = EmptyPlace()
    private let stack: Stack
    private let older: Box
    /// The button that asks the user for the names of items.
    private let unnamed = Box(.down)
    private var choice: Choice?
    private var search: SearchField?
    private var entries: [ActivityEntry] = []
    /// The items that still exist.
    private var existing: Set<String> = []
    /// Their keys.
    private var existingKeys: Set<StoredItem.Key> = []
    /// The apps that the menu of the desktop has, by their names in the log.
    private var installed: [String: InstalledApp] = [:]
    private var protection = KeychainOverview.Protection.user
    /// Whether the names of all items are known.
    private var isNamed = true
    /// The programs of Latchkey in the log, with their names for people.
    private var ownPrograms: [String: String] = [:]
    /// The apps that stored the items, also those that were deleted since, as the log names them.
    private var owners: [String: String] = [:]
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
        let filters = Box(.down)
        let list = Box(.down, spacing: 12, [unnamed, days, older])
        stack = Stack(["list": list, "empty": place])
        content = Page(Box(.down, spacing: 18, [filters, stack]), width: 600, isCentred: false)
        let search = SearchField(ActivityWords.search) { [weak self] _ in self?.draw() }
        search.setPlaceholder(ActivityWords.search)
        let choice = Choice(ActivityWords.filter) { [weak self] number in self?.choose(number) }
        filters.append(Beside(search, choice))
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
        protection = overview.protection
        unnamed.isVisible = !isNamed && host.listed == nil && overview.isPasscodeSet && !overview.isLocked
        read(before: nil)
    }

    func forgetNames() {
        removals += 1
        draw()
    }

    private func readOlder() {
        guard let last = entries.last else { return }
        read(before: last.id)
    }

    private func read(before number: Int64?) {
        if number == nil { refreshes += 1 }
        let (refresh, removal) = (refreshes, removals)
        let (control, isNamed, listed, protection) = (control, isNamed, host.listed?.items ?? [], protection)
        Work.run { () throws(SettingsFailure) in
            let read = try control.activity(before: number, limit: Self.pageSize)
            let apps = Set(read.map(\.app)).reduce(into: [String: InstalledApp]()) {
                $0[$1] = InstalledApp(named: $1, protection: protection)
            }
            return (read, isNamed ? try control.items() : listed, apps)
        } done: { [weak self] result in
            // Older entries are shown although new ones were read meanwhile.
            guard let self, removal == removals, number.map({ $0 == entries.last?.id }) ?? (refresh == refreshes) else {
                return
            }
            switch result {
            case .failure(let failure): host.show(failure)
            case .success((let read, let found, let apps)):
                if refresh == refreshes {
                    host.seen.add(found)
                    existing = Set(found.map(\.id))
                    existingKeys = Set(found.map(\.key))
                }
                installed.merge(apps) { $1 }
                if number != nil { pages += 1 }
                // New entries displace the oldest ones, so that an open window does not grow.
                let known = number == nil ? entries.updated(with: read) : entries + read
                entries = Array(known.prefix(pages * Self.pageSize))
                hasOlder = (entries.last?.id ?? 1) > 1
                findNames()
                draw()
            }
        }
    }

    /// Finds the names of Latchkey's programs, and the apps of the items that were stored.
    private func findNames() {
        for entry in entries {
            ownPrograms[entry.app] = entry.ownProgram
            // Latchkey's own window stores the items of other apps, from a backup.
            guard entry.event == .added, entry.ownProgram == nil, !entry.item.isEmpty else { continue }
            owners[entry.item] = entry.app
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
            [ActivityWords.allApps] + apps.map(name),
            selected: app.flatMap { apps.firstIndex(of: $0) }.map { $0 + 1 } ?? 0)
        let wanted = search?.text.lowercased() ?? ""
        let found = entries.filter { entry in
            (app == nil || entry.app == app)
                && (wanted.isEmpty || searched(entry).lowercased().contains(wanted))
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
        show(found.byTime)
    }

    private func show(_ found: [ActivityEntry]) {
        let lines = found.map { "\($0.id) \(ActivityWords.day($0)) \(sentence($0))" }
        guard lines != drawn else { return }
        drawn = lines
        var days: [(title: String, entries: [ActivityEntry])] = []
        for entry in found {
            let day = ActivityWords.day(entry)
            if days.last?.title == day {
                days[days.count - 1].entries.append(entry)
            } else {
                days.append((day, [entry]))
            }
        }
        // Groups are reused, because a box cannot lose a widget.
        while groups.count < days.count {
            let group = RowGroup()
            groups.append(group)
            self.days.append(group)
        }
        for (number, group) in groups.enumerated() {
            group.setTitle(number < days.count ? days[number].title : "")
            group.show(number < days.count ? days[number].entries.map(row) : [])
        }
    }

    /// What a search finds: the row, and the details about how it was allowed.
    private func searched(_ entry: ActivityEntry) -> String {
        ([sentence(entry)] + ActivityWords.grounds(entry)).joined(separator: "\n")
    }

    private func row(_ entry: ActivityEntry) -> Row {
        Row(
            sentence(entry), subtitle: ActivityWords.time(entry), icon: ActivityWords.icon(entry),
            app: installed[entry.app]?.icon
        ) { [weak self] in self?.showDetails(entry) }
    }

    private func name(_ app: String) -> String { installed[app]?.name ?? ownPrograms[app] ?? app }

    /// The name of the app that stored the item of an entry; nil if it is not known.
    private func owner(_ entry: ActivityEntry) -> String? { owners[entry.item].map(name) }

    private func sentence(_ entry: ActivityEntry) -> String {
        ActivityWords.sentence(
            entry, app: name(entry.app), item: host.seen[entry.item].map { AppsWords.name($0) }, owner: owner(entry),
            isDeleted: isNamed && !entry.item.isEmpty && !existing.contains(entry.item) && !wasStoredAgain(entry))
    }

    /// Whether the item of an entry was deleted, and its app has stored one of the same key since.
    private func wasStoredAgain(_ entry: ActivityEntry) -> Bool {
        !existing.contains(entry.item) && host.seen[entry.item].map { existingKeys.contains($0.key) } ?? false
    }

    /// Shows what is behind a row, and leads to the item if it still exists.
    private func showDetails(_ entry: ActivityEntry) {
        guard let window = host.window else { return }
        let item = host.seen[entry.item]
        let text = ActivityWords.details(
            entry, app: name(entry.app), installed[entry.app], item, owner: owner(entry), isNamed: isNamed,
            wasStoredAgain: wasStoredAgain(entry))
        guard let item, existing.contains(entry.item) else {
            return Question.tell(
                over: window, heading: sentence(entry), body: text, close: WindowWords.closeMnemonic)
        }
        Question.ask(
            over: window, heading: sentence(entry), body: text, decline: WindowWords.closeMnemonic,
            agree: ActivityWords.showItem, isDestructive: false
        ) { [weak self] in
            guard let self else { return }
            let app = AppsWords.app(item.app, InstalledApp(named: item.app, protection: protection))
            ItemDialog.show(item, app: app, asksAtPrompt: !isNamed, host)
        }
    }
}
