// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyModel
import LatchkeyWords

/// The texts of `latchkey secrets`, in one language.
struct SecretsTexts: Sendable {
    private let words: Words

    init(_ words: Words) { self.words = words }

    var usage: String {
        words(
            """
            usage: latchkey secrets enable | disable
                   latchkey secrets status [--json]
                   latchkey secrets import [--dry-run] [--json]
                   latchkey secrets export [--dry-run] [--json]
                   latchkey secrets answers [--forget PROGRAM] [--json]

            """)
    }

    // MARK: - Failures

    var misused: Failure { Failure(.invalidParameter, "The command line is not understood.", hint: "\(usage)") }

    var notEnabled: Failure {
        Failure(
            .notPermitted, "The keyring of Latchkey is not enabled.", hint: "Enable it with: latchkey secrets enable")
    }

    var nameIsTaken: Failure {
        Failure(
            .duplicateItem, "Another keyring serves this session.", hint: "See which one: latchkey secrets status")
    }

    func nameIsTaken(by owner: NameOwner) -> Failure {
        Failure(
            .duplicateItem,
            "Another keyring serves this session: \(owner.program), process \(Int(owner.processID)). Nothing was changed.",
            hint: """
                Copy its items first: latchkey secrets import. Then end it, for gnome-keyring with: \
                systemctl --user mask --now gnome-keyring-daemon.socket gnome-keyring-daemon.service
                """)
    }

    func foreignFile(_ path: String) -> Failure {
        Failure(.duplicateItem, "\(path) names another keyring.", hint: "Move the file away.")
    }

    func bus(_ error: BusError) -> Failure {
        Failure(.daemonUnavailable, "The message bus does not answer as expected: \(error.description)")
    }

    var noSource: Failure {
        Failure(
            .itemNotFound, "No other keyring serves this session.",
            hint: "Start the one with the items, for example: gnome-keyring-daemon --start")
    }

    var noTarget: Failure {
        Failure(
            .itemNotFound, "No other keyring serves this session.",
            hint: """
                End this one first: latchkey secrets disable. Then start the other one, for example: \
                gnome-keyring-daemon --start
                """)
    }

    var notMade: Failure {
        Failure(.interactionNotAllowed, "The other keyring has made no collection.", hint: "Repeat the command.")
    }

    var notRead: Failure {
        Failure(.itemNotFound, "It was deleted, or this command may never read it.")
    }

    var stillLocked: Failure {
        Failure(.interactionNotAllowed, "A collection stayed locked.", hint: "Unlock it, and repeat the command.")
    }

    // MARK: - Sentences

    var enabled: String {
        words("Programs of your sessions store their secrets in Latchkey from now on.")
    }
    var disabled: String { words("Latchkey is not the keyring of your sessions any more. Its items remain.") }
    var wasDisabled: String { words("Latchkey was not the keyring of your sessions.") }
    var isEnabled: String { words("Enabled: Latchkey is the keyring of your sessions.") }
    var isDisabled: String { words("Not enabled. Enable it with: latchkey secrets enable") }
    var isIdle: String { words("No keyring runs; the first program that needs one starts it.") }
    var runs: String { words("Latchkey serves this session.") }
    func isForeign(_ owner: NameOwner) -> String {
        words("\(owner.program), process \(Int(owner.processID)), serves this session.")
    }

    var busHasEnded: String {
        words("The message bus has ended. The next program that needs a keyring starts this one again.")
    }

    /// Behind an answer that ends with the login session.
    var untilLogout: String { words("until you log out") }
    var noAnswers: String { words("No program may always or never read an item of another one.") }
    func forgotten(_ program: String) -> String { words("\(program) is asked for again.") }
    func noAnswer(_ program: String) -> Failure {
        Failure(
            .itemNotFound, "No answer is stored for \(program).", hint: "See: latchkey secrets answers")
    }

    func collection(_ label: String, _ done: Int, _ total: Int) -> String {
        words("\(label): \(done) of \(total)")
    }

    func imported(_ report: CopyReport) -> String {
        copied(
            report, words.count(report.present, "1 item is here already.", "\(report.present) items are here already."))
    }

    func exported(_ report: CopyReport) -> String {
        copied(
            report,
            words.count(report.present, "1 item is there already.", "\(report.present) items are there already."))
    }

    private func copied(_ report: CopyReport, _ present: String) -> String {
        let copied =
            report.isDryRun
            ? words.count(report.copied, "1 item would be copied.", "\(report.copied) items would be copied.")
            : words.count(report.copied, "1 item was copied.", "\(report.copied) items were copied.")
        return
            ([copied] + (report.present > 0 ? [present] : [])
            + report.failed.map { words("Not copied: \($0.label): \($0.reason)") }).joined(separator: "\n")
    }

    func report(_ failure: Failure) -> String {
        let (message, hint) = (words(failure.text), words(failure.advice))
        return words("error:") + " \(message)\n" + (hint.isEmpty ? "" : words("hint:") + " \(hint)\n")
    }
}
