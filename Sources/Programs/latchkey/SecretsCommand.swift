// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// The program `latchkey-secrets`, which this process becomes: it links libsystemd, which `latchkey` does not.
enum SecretsCommand {
    static func run(_ verb: String, _ options: Options) throws(CommandFailure) {
        let given = [OptionName.dryRun, .json].filter { options.has($0) }.map(\.word)
        let forgotten = options[.forget].map { [OptionName.forget.word, $0] } ?? []
        let program = try failing { () throws(Failure) in
            try ProgramSearch("latchkey-secrets").find(
                hint: "It is part of the services of a system; see services.md.")
        }
        let error = Processes.become(program, [verb] + given + forgotten)
        throw .failure(Failure(error, "\(program) cannot be started"))
    }

    /// Sets the access control of new items, or of one item.
    static func protect(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let control = try AccessControl(protection: name, staysHere: false)
        let (label, itemName) = (options[.collection], options[.item])
        try failing { () throws(Failure) in
            try control.checkIsPossible(Client.command.call(Request.Status()))
            let identifier = try label.map { (label) throws(Failure) in try collection(label) }
            if let itemName {
                _ = try use(.protectItem(try item(itemName, in: identifier), control))
            } else {
                _ = try use(.protectNew(collection: identifier ?? SecretService.login, control))
            }
        }
        let text =
            itemName.map { localized("\($0) demands: \(name).") }
            ?? label.map { localized("New items of programs in the collection \($0) demand: \(name).") }
            ?? localized("New items of programs demand: \(name).")
        Output.write(text + "\n")
    }

    /// The identifier of the item of any program with that label.
    ///
    /// - Parameter collection: its collection; nil for any.
    private static func item(_ label: String, in collection: String?) throws(Failure) -> String {
        let items = try use(.everyItem).filter { item in
            collection.map { item.text(.collection).hasBytes(of: $0) } ?? true
        }
        let named = items.filter { $0.text(.label).hasBytes(of: label) || $0.text(.identifier).hasBytes(of: label) }
        guard let first = named.first else {
            throw Failure(
                .itemNotFound, "No program has stored an item \(label).",
                hint: "List the items of programs with: latchkey list --all")
        }
        guard named.count == 1 else {
            let choices = named.map { "\($0.text(.identifier)) (\($0.text(.owner)))" }.joined(separator: ", ")
            throw Failure(
                .duplicateItem, "\(named.count) items have the label \(label).",
                hint: "Name one of them by its identifier: \(choices)")
        }
        return first.text(.identifier)
    }

    /// The identifier of the collection with that label.
    private static func collection(_ label: String) throws(Failure) -> String {
        if [SecretService.login, SecretService.loginLabel].containsBytes(of: label) { return SecretService.login }
        let known = try use(.collections)
        let named = known.filter { $0.text(.label).hasBytes(of: label) || $0.text(.identifier).hasBytes(of: label) }
        if named.count == 1 { return named[0].text(.identifier) }
        guard named.isEmpty else {
            let identifiers = named.map { $0.text(.identifier) }.joined(separator: ", ")
            throw Failure(
                .duplicateItem, "\(named.count) collections have the label \(label).",
                hint: "Name one of them by its identifier: \(identifiers)")
        }
        let labels = ([SecretService.loginLabel] + known.map { $0.text(.label) }).joined(separator: ", ")
        throw Failure(
            .itemNotFound, "There is no collection \(label).", hint: "These are the collections: \(labels)")
    }

    /// Asks as this program, of which nothing else is used.
    private static func use(_ action: SecretAction) throws(Failure) -> [FoundItem] {
        guard let job = TerminalJob(getpid()) else {
            throw Failure(.internalFailure, "The start time of this process cannot be read.")
        }
        let process = ProcessName(processID: getpid(), startTime: job.startTime, userID: geteuid())
        return try Client.command.call(Request.UseSecrets(process: process, isPinned: true, action: action))
    }
}
