// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

// What the user decides about the secrets that programs stored over the message bus: the answers to a program that wanted to
// read one of another program, and what is proven before one is read (docs/use/secret-service.md).

extension KeychainControl {
    /// An answer that counts now: for one program and one item.
    public struct ProgramAnswer: Equatable, Sendable {
        /// The paths of the program that asked and, if it only passes on what others ask, of those that started it, the last
        /// one first; of an app in a sandbox what the sandbox says, such as `flatpak:org.example.App`. One line of text each.
        public let programs: [String]
        /// The label of the item, which may be empty; nil if the item was deleted since.
        public let item: String?
        /// Whether the program may read the item; otherwise it never reads it.
        public let mayRead: Bool
        /// Whether the answer ends when the user logs out, or the keychain is locked.
        public let endsWithSession: Bool
        /// The identifier of the item.
        let itemIdentifier: String
        /// The identifier of the answer.
        let identifier: String

        init?(_ found: FoundItem) {
            // The daemon asks again where it cannot read an answer.
            guard let answer = SecretAnswer(rawValue: found.text(.label)), answer != .once else { return nil }
            programs = found.text(.owner).split(separator: Limits.startedByArrow).map { String($0).withoutControls }
            item = found.attributes?[.itemDescription] == nil ? nil : found.text(.itemDescription).asShownLine
            (mayRead, endsWithSession) = (answer != .never, answer == .session)
            // The collection of its row: @answers/ITEM.
            itemIdentifier = Files.name(of: found.text(.collection))
            identifier = found.text(.identifier)
        }
    }

    /// The answers, ordered by program and item. Where `KeychainOverview.listsItems` is false, a prompt asks the user;
    /// otherwise there is none.
    ///
    /// - Throws: `SettingsFailure`, with code `storeUnusable` for a store that cannot be read; `passcodeNotSet` without a
    ///   passcode, `cancelled` if the user cancels and `noPrompt` if nothing can show the prompt.
    public func programAnswers() throws(SettingsFailure) -> [ProgramAnswer] {
        try use(.answers).compactMap { ProgramAnswer($0) }.sorted {
            ($0.programs.joined(separator: "\n"), $0.item ?? "", $0.itemIdentifier)
                < ($1.programs.joined(separator: "\n"), $1.item ?? "", $1.itemIdentifier)
        }
    }

    /// Withdraws an answer, so that the program asks again. Where `KeychainOverview.listsItems` is false, a prompt asks the
    /// user; otherwise there is none.
    ///
    /// - Parameter answer: an answer of `programAnswers()`.
    /// - Throws: `SettingsFailure`, with code `notFound` if it is not there any more, `locked` for a locked keychain,
    ///   `cancelled` if the user cancels and `noPrompt` if nothing can show the prompt.
    public func withdraw(_ answer: ProgramAnswer) throws(SettingsFailure) {
        _ = try use(.forgetAnswer(item: answer.itemIdentifier, answer: answer.identifier))
    }

    /// Changes what is proven each time a secret of a program is read. The prompt says so, and asks for what the secret demanded
    /// so far. Answers to other programs that may read it end.
    ///
    /// - Parameters:
    ///   - item: an item with `StoredItem.canBeProtected`.
    ///   - asks: whether a finger, a face or the passcode is proven; otherwise nothing is.
    /// - Throws: `SettingsFailure`, with code `passcodeNotSet` without a passcode, `notFound` if the item is not there any more,
    ///   `locked` for a locked keychain, `cancelled` if the user cancels, `delayed` for a time after that, and `noPrompt` if nothing
    ///   can show the prompt.
    public func protect(_ item: StoredItem, asks: Bool) throws(SettingsFailure) {
        guard let identifier = item.secretIdentifier else {
            throw SettingsFailure(.notFound, "Only its app can change what this item demands.")
        }
        _ = try use(.protectItem(identifier, AccessControl(constraints: asks ? .userPresence : [])))
    }

    /// Asks as this program: every program may list and withdraw answers, after the user agreed.
    private func use(_ action: SecretAction) throws(SettingsFailure) -> [FoundItem] {
        guard let job = TerminalJob(getpid()) else {
            throw SettingsFailure(.other, "The start time of this process cannot be read.")
        }
        let process = ProcessName(processID: getpid(), startTime: job.startTime, userID: geteuid())
        return try call(Request.UseSecrets(process: process, isPinned: true, action: action))
    }
}
