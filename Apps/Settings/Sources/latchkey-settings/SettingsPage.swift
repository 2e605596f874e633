// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The pages, in the order of the list; raw values are their names on the command line.
enum PageName: String, CaseIterable {
    case passcode
    case fingerprints
    case activity
    case apps
    case faces
    case backup
    case health
}

/// A page of the window.
@MainActor protocol SettingsPage: AnyObject {
    /// Its widgets.
    var content: Widget { get }
    /// Whether the page shows nothing without a keychain; the window then explains what is missing in its place.
    var needsKeychain: Bool { get }
    /// Reads what the page shows. Called when it appears and after each change; `overview` is nil without a keychain.
    func refresh(_ overview: KeychainOverview?)
    /// Removes the names of items from the page, also those that are being read. Called when the keychain is locked or
    /// cannot be read any more, whether the page is open or not.
    func forgetNames()
    /// Removes what the page only shows until another one is open.
    func leave()
    /// Moves the focus to the search field, if the page has one.
    func startSearch()
}

extension SettingsPage {
    var needsKeychain: Bool { true }
    func forgetNames() {}
    func leave() {}
    func startSearch() {}
}

/// What a page asks of its window.
@MainActor protocol PageHost: AnyObject {
    /// The window, over which dialogs appear.
    var window: AppWindow? { get }
    /// The items of all apps that the user agreed to list; nil before that, and after a lock.
    var listed: ListedItems? { get }
    /// The items that exist, as far as the window may list them; empty if not.
    var items: [StoredItem] { get }
    /// Why the items could not be read although they are listed without a prompt; nil if they could.
    var unread: SettingsFailure? { get }
    /// What the window has read of items, to which a page adds what it reads.
    var seen: SeenItems { get }
    /// Asks the user to let this window list the items of all apps.
    func listItems()
    /// Asks the user to let this window list the answers to programs that wanted to read a secret of another one.
    func listAnswers()
    /// Performs an operation that changes something or waits for the user; one at a time.
    func perform(_ operation: Operation)
    /// Calls `action` at once, or after the person has unlocked a keychain that is locked.
    func whenUnlocked(_ action: @escaping @MainActor () -> Void)
    /// Shows a short message.
    func tell(_ words: String)
    /// Shows why something failed.
    func show(_ failure: SettingsFailure)
    /// Opens another page.
    func open(_ page: PageName)
}

/// The items of all apps that a keychain of the system has listed after a prompt.
struct ListedItems: Equatable {
    private(set) var items: [StoredItem]
    /// Number of items in the keychain when the list was made. If the keychain has another number of items now, the list is
    /// not complete.
    private(set) var itemCount: UInt64?
    /// The answers to programs that wanted to read a secret of another one; nil before they are listed, after another prompt.
    private(set) var answers: [AnsweredProgram]?

    init(items: [StoredItem], itemCount: UInt64?) { (self.items, self.itemCount) = (items, itemCount) }

    /// Takes out an item that was deleted.
    mutating func remove(_ item: StoredItem) {
        guard let place = items.firstIndex(of: item) else { return }
        items.remove(at: place)
        itemCount = itemCount.map { $0 - min(1, $0) }
    }

    /// Shows an item whose rule was changed.
    mutating func replace(_ item: StoredItem, with new: StoredItem) {
        if let place = items.firstIndex(of: item) { items[place] = new }
    }

    mutating func add(_ answers: [AnsweredProgram]) { self.answers = answers }

    /// Takes out an answer that was withdrawn.
    mutating func remove(_ answer: KeychainControl.ProgramAnswer) {
        answers = answers?.compactMap { program in
            var rest = program
            rest.answers.removeAll { $0 == answer }
            return rest.answers.isEmpty ? nil : rest
        }
    }
}

/// Shows the operation that runs.
@MainActor protocol OperationDisplay: AnyObject {
    /// The page on which it is; nil if it is beside every page.
    var page: PageName? { get }
    /// Shows an operation that has started, with a button that ends it early unless `cancel` is nil.
    func start(_ words: String, cancel: (@MainActor () -> Void)?)
    /// Moves the focus to the button that cancels.
    func focus()
    /// Shows what the operation has done so far.
    func show(_ progress: Operation.Progress)
    /// Hides the operation.
    func end()
}

/// An operation on another thread, with the texts that the window shows meanwhile and afterwards.
struct Operation {
    /// What the window shows while it runs.
    let waiting: String
    /// Ends it early; nil if it cannot be.
    let cancel: (@Sendable () -> Void)?
    /// Performs it, reports progress, and returns what the window shows afterwards.
    let body: @Sendable (@escaping @Sendable (Progress) -> Void) throws(SettingsFailure) -> Outcome
    /// What shows it where its page is open; nil for the bar below the page.
    var display: (any OperationDisplay)?
    /// What the window shows if the proof was wrong; nil for a general sentence.
    var refusal: String?
    /// Called with what it has done, after the window has noted it.
    var done: (@MainActor (Outcome) -> Void)?

    /// What an operation has done so far.
    struct Progress: Sendable {
        let words: String
        /// The part that is done, 0 to 1; nil if the whole is not known.
        var part: Double?
    }

    /// What an operation has done.
    struct Outcome: Sendable {
        /// The message; empty if a report says it.
        var words = ""
        /// The items of all apps, if the operation has listed them.
        var items: [StoredItem]?
        /// What is listed on the page of the operation until another one is open; empty if the message says it all.
        var report: [Line] = []
        /// The item that the operation has deleted.
        var deleted: StoredItem?
        /// The item whose rule the operation has changed, before and after.
        var changed: (item: StoredItem, new: StoredItem)?
        /// The answers to programs, if the operation has listed them.
        var answers: [AnsweredProgram]?
        /// The answer that the operation has withdrawn.
        var withdrawn: KeychainControl.ProgramAnswer?

        /// A line of a report: what happened, and more about it.
        struct Line: Sendable, Equatable {
            let words: String
            var more = ""
            var mark = Mark.done
            /// The page that the line opens; nil for none.
            var page: PageName?

            /// The kinds of line, by which its icon is chosen.
            enum Mark { case done, open, warning }
        }
    }
}

extension Operation {
    /// An operation with a connection of its own, which ends when it is cancelled.
    static func keychain(
        _ waiting: String, done: String, refusal: String? = nil,
        _ body: @escaping @Sendable (KeychainControl) throws(SettingsFailure) -> Void
    ) -> Operation {
        let control = KeychainControl()
        return Operation(
            waiting: waiting, cancel: { control.cancel() },
            body: { _ throws(SettingsFailure) in
                try body(control)
                return Outcome(words: done)
            }, refusal: refusal)
    }

    /// Sets a first passcode, and lists what stays open without it.
    @MainActor static func settingPasscode(shownIn result: ResultGroup) -> Operation {
        let control = KeychainControl()
        result.leave()
        return Operation(
            waiting: WindowWords.answerPrompt, cancel: { control.cancel() },
            body: { _ throws(SettingsFailure) in
                try control.setPasscode()
                // The passcode is set, also if nothing more can be read now.
                let overview = try? control.overview()
                let items = overview?.listsItems == true ? try? control.items() : nil
                return Outcome(words: PasscodeWords.wasSet, report: OpenWords.report(overview, items))
            }, done: { result.show($0.report) })
    }
}
