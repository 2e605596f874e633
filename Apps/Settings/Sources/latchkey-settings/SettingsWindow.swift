// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import Widgets

/// The window: a list of pages beside the page that is open, a message above it, and the operation that runs below it.
@MainActor final class SettingsWindow: PageHost {
    private let control = KeychainControl()
    private let header = HeaderBar(title: WindowWords.title)
    private let messages = MessageBar()
    private let progress = OperationBar()
    private let missing = MissingPage()
    /// Above each page while the keychain is locked.
    private let locked = Box(.across, spacing: 12)
    /// The name of the page where the list of pages is beside it.
    private let pageTitle = Label(styles: ["title-2"])
    /// What the header bar says under its title, where that has no room.
    private let pageNote = Label(styles: ["dim-label"])
    private var pages: [any SettingsPage] = []
    private var sidebar: Sidebar?
    private var stack: Stack?
    private var leaflet: Leaflet?
    private var toasts: Toasts?
    private var back: Button?
    private var lock: Button?
    private(set) var window: AppWindow?
    private(set) var listed: ListedItems?
    let seen = SeenItems()
    /// The items that the last reading listed without a prompt.
    private var read: Result<[StoredItem], SettingsFailure> = .success([])
    var items: [StoredItem] { listed?.items ?? (try? read.get()) ?? [] }
    var unread: SettingsFailure? { if case .failure(let failure) = read { failure } else { nil } }
    private var opened = PageName.passcode
    private var isPageShown = false
    private var running: Operation?
    /// The daemon's last answer; nil before the first one.
    private var state: Result<KeychainOverview, SettingsFailure>?
    private let asking = Reading<(overview: KeychainOverview, items: Result<[StoredItem], SettingsFailure>)>()
    private var isClosing = false
    private var isFollowing = false

    /// How long a closed window waits for its operation to end, in milliseconds.
    private static let closeMilliseconds: UInt32 = 3000

    init() {
        pages = [
            PasscodePage(self), FingerprintsPage(self), ActivityPage(self), AppsPage(self), FacesPage(self),
            BackupPage(self), HealthPage(self),
        ]
        makeWindow()
    }

    /// Shows the window with the page of this number.
    func start(_ page: Int) {
        open(PageName.allCases[page])
        sidebar?.focusSelected()
        window?.present()
    }

    /// Comes to the front, because the program was started again.
    ///
    /// - Parameter page: the name of a page that is opened; another text opens none.
    func startAgain(_ page: String) {
        if let page = PageName(rawValue: page) {
            open(page)
            focusPages()
        }
        window?.present()
    }

    // MARK: - Pages

    func open(_ page: PageName) {
        if page != opened { self.page.leave() }
        opened = page
        isPageShown = true
        messages.dismiss()
        refresh()
        draw()
    }

    private var page: any SettingsPage { pages[PageName.allCases.firstIndex(of: opened) ?? 0] }

    private var overview: KeychainOverview? { (try? state?.get()).flatMap { $0.problem == nil ? $0 : nil } }

    private var problem: SettingsFailure? {
        switch state {
        case .failure(let failure)?: failure
        case .success(let overview)?: overview.problem
        case nil: nil
        }
    }

    /// Asks the daemon for its state, and for its items where it lists them without a prompt; then lets the open page read what
    /// it shows.
    private func refresh() {
        let control = control
        asking.begin { () throws(SettingsFailure) in
            let overview = try control.overview()
            guard overview.listsItems else { return (overview, .success([])) }
            // A page that shows the items reports why they cannot be read.
            return (overview, Result { () throws(SettingsFailure) in try control.items() })
        } done: { [weak self] result in
            guard let self else { return }
            state = result.map { $0.overview }
            forgetNames()
            read = (try? result.get().items) ?? .success([])
            seen.add((try? read.get()) ?? [])
            page.refresh(overview)
            draw()
        }
    }

    /// Removes the names of items from every page when the keychain is locked, has lost its passcode or cannot be read.
    private func forgetNames() {
        if let overview {
            // A daemon that lists its items without a prompt does so while the keychain is locked, too.
            guard listed != nil, overview.isLocked || !overview.isPasscodeSet else { return }
        }
        listed = nil
        seen.forget()
        for page in pages { page.forgetNames() }
    }

    /// How often an active window asks whether the keychain has changed, in milliseconds: no message of the daemon says it.
    private static let followMilliseconds: UInt32 = 2000

    /// Shows what other programs change, for as long as the window is active. A window that becomes active asks anyway.
    private func follow() {
        guard !isFollowing, window?.isActive == true else { return }
        isFollowing = true
        _ = MainLoop.after(milliseconds: Self.followMilliseconds) { [weak self] in
            guard let self else { return }
            let control = control
            Work.run { () throws(SettingsFailure) in
                try control.overview()
            } done: { [weak self] result in
                guard let self else { return }
                isFollowing = false
                // After the first answer, and not while an operation runs, which ends with a reading.
                if let state, running == nil, (try? result.get()) != (try? state.get()) { refresh() }
                follow()
            }
        }
    }

    private func draw() {
        let number = PageName.allCases.firstIndex(of: opened) ?? 0
        sidebar?.select(number)
        missing.show(problem)
        let isMissing = problem != nil && page.needsKeychain
        stack?.page = state == nil && page.needsKeychain ? "starting" : isMissing ? "missing" : opened.rawValue
        let isFolded = leaflet?.isFolded == true
        leaflet?.show(second: isPageShown)
        back?.isVisible = isFolded && isPageShown
        header.subtitle = overview?.protection == .simulated ? WindowWords.simulated : ""
        header.setTitle(isFolded ? WindowWords.shortTitle : WindowWords.title)
        // Between the buttons of a narrow bar the name of a page, and that nothing is protected, would be cut.
        let isTitleBelow = isFolded && isPageShown
        header.showTitle(!isTitleBelow)
        pageNote.show(isTitleBelow ? header.subtitle : nil)
        pageTitle.show(isFolded && !isTitleBelow ? nil : WindowWords.page(opened))
        // A narrow bar only has room for icons.
        lock?.showTitle(!isFolded)
        lock?.isVisible = overview.map { !$0.isLocked && $0.isPasscodeSet } ?? false
        locked.isVisible = overview?.isLocked ?? false
        locked.isSensitive = running == nil
        let showsOperation = running?.display?.page == opened
        progress.isCovered = showsOperation
        stack?.isSensitive = running == nil || showsOperation
        lock?.isSensitive = running == nil
    }

    // MARK: - Operations

    func perform(_ operation: Operation) {
        guard running == nil, !isClosing else { return }
        running = operation
        messages.dismiss()
        toasts?.dismiss()
        var cancel: (@MainActor () -> Void)?
        if operation.cancel != nil { cancel = { [weak self] in self?.cancel() } }
        draw()
        for display in displays { display.start(operation.waiting, cancel: cancel) }
        (progress.isCovered ? operation.display : progress)?.focus()
        let body = operation.body
        Work.run { [weak self] () throws(SettingsFailure) in
            try body { progress in Work.report { self?.show(progress) } }
        } done: { [weak self] result in
            self?.end(result)
        }
    }

    /// What shows the operation that runs: the bar below the page, and the place of the operation on its page.
    private var displays: [any OperationDisplay] { [progress, running?.display].compactMap { $0 } }

    private func show(_ progress: Operation.Progress) {
        for display in displays { display.show(progress) }
    }

    func whenUnlocked(_ action: @escaping @MainActor () -> Void) {
        guard overview?.isLocked == true else { return action() }
        var operation = unlocking
        operation.done = { _ in action() }
        perform(operation)
    }

    func listItems() {
        let control = KeychainControl()
        perform(
            Operation(
                waiting: WindowWords.answerPrompt, cancel: { control.cancel() },
                body: { _ throws(SettingsFailure) in
                    let items = try control.itemsAfterPrompt()
                    return Operation.Outcome(words: AppsWords.wereListed(items.count), items: items)
                }))
    }

    func listAnswers() {
        let control = KeychainControl()
        perform(
            Operation(
                waiting: WindowWords.answerPrompt, cancel: { control.cancel() },
                body: { _ throws(SettingsFailure) in
                    let answers = try control.programAnswers()
                    return Operation.Outcome(
                        words: AnswerWords.wereListed(answers.count), answers: AnsweredProgram.all(answers))
                }))
    }

    private func cancel() { running?.cancel?() }

    private func end(_ result: Result<Operation.Outcome, SettingsFailure>) {
        for display in displays { display.end() }
        let operation = running
        running = nil
        if isClosing { leave() }
        if case .success(let outcome) = result {
            if let items = outcome.items {
                listed = ListedItems(items: items, itemCount: overview?.itemCount)
                seen.add(items)
            }
            if let item = outcome.deleted { listed?.remove(item) }
            if let change = outcome.changed { listed?.replace(change.item, with: change.new) }
            if let answers = outcome.answers { listed?.add(answers) }
            if let answer = outcome.withdrawn { listed?.remove(answer) }
        }
        draw()
        focusPages()
        refresh()
        switch result {
        case .success(let outcome):
            if outcome.report.isEmpty { tell(outcome.words) }
            operation?.done?(outcome)
        case .failure(let failure) where failure.code == .notAuthenticated && operation?.refusal != nil:
            messages.show(operation?.refusal ?? "", isError: true)
        case .failure(let failure): show(failure)
        }
    }

    func tell(_ words: String) { toasts?.show(words) }

    func show(_ failure: SettingsFailure) {
        switch failure.code {
        case .cancelled: tell(FailureWords.cancelled)
        // The bar above the page says it, and unlocks.
        case .locked where locked.isVisible: tell(FailureWords.sentence(failure))
        case .noPrompt:
            messages.show(
                FailureWords.sentence(failure), isError: true, details: FailureWords.details(failure),
                button: FailureWords.startPrompts
            ) { [weak self] in self?.startAgent() }
        default:
            messages.show(
                FailureWords.sentence(failure), isError: true, details: FailureWords.details(failure))
        }
    }

    private func startAgent() {
        perform(
            Operation(
                waiting: FailureWords.startingPrompts, cancel: nil,
                body: { _ throws(SettingsFailure) in
                    try Health.startAgent()
                    return Operation.Outcome(words: FailureWords.promptsStarted)
                }))
    }

    private func lockNow() {
        guard lock?.isVisible == true else { return }
        perform(
            .keychain(WindowWords.locking, done: WindowWords.locked) { (control) throws(SettingsFailure) in
                try control.lock()
            })
    }

    private func unlockNow() {
        guard locked.isVisible else { return }
        perform(unlocking)
    }

    private var unlocking: Operation {
        .keychain(WindowWords.answerPrompt, done: WindowWords.unlocked, refusal: WindowWords.staysLocked) {
            (control) throws(SettingsFailure) in
            try control.unlock()
        }
    }

    // MARK: - Closing

    /// Closes the window. An operation is cancelled first, so that the daemon dismisses its prompt and no incomplete
    /// file stays.
    private func close() {
        guard !isClosing else { return }
        isClosing = true
        // The next process shows a window of its own.
        OnlyProcess.end()
        window?.hide()
        guard let running else { leave() }
        running.cancel?()
        _ = MainLoop.after(milliseconds: Self.closeMilliseconds) { [weak self] in self?.leave() }
    }

    /// Ends the process without waiting for threads that wait for the daemon.
    private func leave() -> Never { MainLoop.end() }

    // MARK: - Widgets

    private func makeWindow() {
        let sidebar = Sidebar(WindowWords.pages, PageName.allCases.map { (WindowWords.icon($0), WindowWords.page($0)) })
        {
            [weak self] number in self?.open(PageName.allCases[number])
        }
        sidebar.setWidth(200)
        let names = PageName.allCases.map { ($0.rawValue, $0) }
        var contents: [(key: String, value: Widget)] = [("starting", EmptyPlace()), ("missing", missing.content)]
        for ((name, _), page) in zip(names, pages) { contents.append((name, page.content)) }
        let stack = Stack(contents)
        stack.expand(across: true, down: true)
        let toasts = Toasts(stack)
        makeBanner()
        let titles = Box(.down, [pageTitle, pageNote])
        titles.setMargins(above: 18, below: 0, sides: 12)
        let title = Clamp(titles, width: 600)
        let side = Box(.down, [locked, messages.content, title, toasts, progress.content])
        // A narrower window shows either the list or a page.
        side.setWidth(340)
        let leaflet = Leaflet(sidebar, side)
        leaflet.whenFolded { [weak self] in self?.draw() }
        (self.sidebar, self.stack, self.toasts, self.leaflet) = (sidebar, stack, toasts, leaflet)
        makeHeader()
        missing.again = { [weak self] in self?.refresh() }
        missing.health = { [weak self] in self?.open(.health) }
        let content = Box(.down, [header, leaflet])
        let window = AppWindow(title: WindowWords.title, width: 820, height: 620, content: content) {
            [weak self] in self?.close()
        }
        window.add(shortcuts)
        window.whenActive { [weak self] in
            self?.refresh()
            self?.follow()
        }
        MainLoop.whenToldToEnd { [weak self] in self?.close() }
        self.window = window
    }

    private func makeHeader() {
        let back = Button(WindowWords.back, icon: "go-previous-symbolic", showsTitle: false) { [weak self] in
            self?.showList()
        }
        let lock = Button(WindowWords.lock, icon: "changes-prevent-symbolic") { [weak self] in self?.lockNow() }
        header.atStart(back)
        // Desktops show their messages over the other end.
        header.atStart(lock)
        let commands: [(title: String, action: @MainActor () -> Void)] = [
            (WindowWords.refresh, { [weak self] in self?.refresh() }),
            (WindowWords.shortcuts, { [weak self] in self?.window?.showShortcuts() }),
        ]
        header.atEnd(MenuButton(WindowWords.menu, icon: "open-menu-symbolic", commands))
        (self.back, self.lock) = (back, lock)
    }

    private func makeBanner() {
        let icon = Picture("changes-prevent-symbolic", points: 16)
        let text = Label(WindowWords.isLocked)
        let unlock = Button(WindowWords.unlock, styles: ["suggested-action"]) { [weak self] in self?.unlockNow() }
        icon.setMargin(0, sides: 6)
        locked.setStyle("toolbar")
        Bars.place(locked)
        locked.isVisible = false
        for widget in [icon, text, unlock] as [Widget] { widget.centre(across: false) }
        let place = Beside(text, unlock)
        place.expand(across: true)
        for widget in [icon, place] as [Widget] { locked.append(widget) }
    }

    private func showList() {
        guard leaflet?.isFolded == true else { return }
        isPageShown = false
        draw()
        sidebar?.focusSelected()
    }

    /// Moves the focus between the list of pages and the page.
    private func switchSide() {
        guard let stack else { return }
        if stack.hasFocusInside { focusPages() } else { focusPage() }
    }

    /// Moves the focus to the list of pages, or into the page that hides it.
    private func focusPages() {
        if leaflet?.isFolded == true, isPageShown { focusPage() } else { sidebar?.focusSelected() }
    }

    /// Moves the focus to the first widget of the page, wherever it was: GTK would go on from a row that had it before.
    private func focusPage() {
        window?.dropFocus()
        stack?.focusInside()
    }

    private var shortcuts: [Shortcut] {
        let pages = PageName.allCases.enumerated().map { number, page in
            Shortcut("<Alt>\(number + 1)", WindowWords.page(page)) { [weak self] in
                self?.open(page)
                self?.focusPages()
            }
        }
        return pages + [
            Shortcut("<Control>l", WindowWords.lock) { [weak self] in self?.lockNow() },
            Shortcut("<Control>u", WindowWords.unlock) { [weak self] in self?.unlockNow() },
            Shortcut("<Control>f", WindowWords.search) { [weak self] in self?.page.startSearch() },
            Shortcut("F6", WindowWords.otherSide) { [weak self] in self?.switchSide() },
            Shortcut("F5", WindowWords.refresh) { [weak self] in self?.refresh() },
            Shortcut("<Alt>Left", WindowWords.back) { [weak self] in self?.showList() },
            Shortcut("<Control>w", WindowWords.close) { [weak self] in self?.close() },
            Shortcut("<Control>q", WindowWords.close) { [weak self] in self?.close() },
        ]
    }
}
