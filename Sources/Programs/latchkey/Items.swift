// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// set, get, list, delete: generic passwords of the command's own access groups.
enum Items {
    private static func call<Call: DaemonRequest>(
        _ request: Call, _ options: Options
    ) throws(CommandFailure) -> Call.Response {
        do throws(Failure) { return try Client.command.call(request) } catch { throw failure(error, options) }
    }

    /// The failure of a request. The daemon's hint about an access group names an attribute of the API.
    private static func failure(_ failure: Failure, _ options: Options) -> CommandFailure {
        guard failure.status == .missingEntitlement, options.has(.group) else { return .failure(failure) }
        return .failure(
            Failure(
                .missingEntitlement, "The command may not use that access group.",
                hint: "Leave --group out. The access groups of this command: latchkey status"))
    }

    /// The items of that name, or all items.
    ///
    /// - Parameter group: the access group to search; nil searches all groups of the command.
    private static func query(_ options: Options, _ name: String?, in group: String?) -> ItemQuery {
        var query = ItemQuery(itemClass: .genericPassword)
        if let group { query.attributes[.accessGroup] = .text(group) }
        if let name { query.attributes[.account] = .text(name) }
        if name != nil || options.isServiceGiven { query.attributes[.service] = .text(options.service) }
        return query
    }

    static func set(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        // A name that is unknown is refused before the daemon is asked.
        let chosen = try AccessControl(protection: options.protection, staysHere: options.has(.deviceOnly))
        guard !options.replaces || !options.has(.deviceOnly) || options.protection != nil else {
            throw .usage(
                "--device-only changes the protection of the replaced item, and --protect is missing",
                "Add --protect, or leave out --device-only.")
        }
        let report = try status(options)
        // Once a passcode is set, a secret is protected unless the user says otherwise (behaviour AC-03).
        let accessControl =
            options.protection == nil && report.isPasscodeSet
            ? try AccessControl(protection: "presence", staysHere: options.has(.deviceOnly)) : chosen
        // An item of another group is another item, so only the one in the group of the new item exists already.
        let existing = query(options, name, in: try check(name, accessControl, report, options))
        let secret = try Input.secret(localized("Secret for \(name): "))
        // A pipe whose first command failed is empty and would replace a secret with an empty one.
        guard secret.count > 0 || options.has(.allowEmpty) else {
            throw .usage("the secret is empty", "To store an empty secret, add --allow-empty")
        }
        var attributes = existing.attributes
        if let label = options.label { attributes[.label] = .text(label) }
        let authentication = Authentication(prompting: Prompting(reason: localized("store \(name)")).clipped)
        do throws(CommandFailure) {
            _ = try call(
                Request.AddItem(
                    itemClass: .genericPassword, attributes: attributes, accessControl: accessControl, secret: secret,
                    returns: [], authentication: authentication), options)
        } catch {
            guard case .failure(let failure) = error, failure.status == .duplicateItem else { throw error }
            guard options.replaces else { throw .failure(duplicate(name)) }
            var changes: Attributes = [:]
            if let label = options.label { changes[.label] = .text(label) }
            try call(
                Request.UpdateItems(
                    query: existing, changes: changes, accessControl: options.protection == nil ? nil : accessControl,
                    secret: secret, authentication: authentication), options)
        }
        guard options.isJSON || StandardStream.error.isTerminal else { return }
        // A replaced item retains its access control. If that cannot be read, the command has still stored the secret.
        let protection = (try? Client.command.items(existing))?.first?.protection
        if options.isJSON {
            let value = protection.map { JSON.text($0) } ?? .null
            return Output.write(JSON.object([("stored", .text(name)), ("protection", value)]).line + "\n")
        }
        guard let protection else { return }
        Output.writeDone(outcome(name.withoutControls, protection, report))
    }

    /// What protects a secret that was stored, for a person.
    private static func outcome(_ name: String, _ protection: String, _ report: StatusReport) -> String {
        switch protection {
        case "presence": localized("\(name) is stored: a finger, a face or the passcode releases it.")
        case "biometry": localized("\(name) is stored: an enrolled finger or face releases it.")
        case "current-set": localized("\(name) is stored: only what is enrolled now releases it.")
        case "passcode": localized("\(name) is stored: the passcode releases it.")
        case _ where report.isPasscodeSet: localized("\(name) is stored without a protection.")
        default:
            localized("\(name) is stored without a protection: no passcode is set. Set one with: latchkey passcode set")
        }
    }

    private static func status(_ options: Options) throws(CommandFailure) -> StatusReport {
        do throws(Failure) { return try Client.command.status() } catch { throw failure(error, options) }
    }

    /// Checks everything that can be checked before the user types a secret. For a pipe the daemon's own checks are
    /// enough.
    ///
    /// - Returns: the access group of the new item.
    private static func check(
        _ name: String, _ accessControl: AccessControl, _ report: StatusReport, _ options: Options
    ) throws(CommandFailure) -> String {
        do throws(Failure) {
            try accessControl.checkIsPossible(report)
            let group = options[.group] ?? report.accessGroup
            guard StandardStream.input.isTerminal else { return group }
            if let problem = report.problem { throw problem }
            guard !report.isLocked else {
                throw Failure(
                    .interactionNotAllowed, "The keychain is locked.", hint: "Unlock it with: latchkey unlock")
            }
            if !options.replaces, try !Client.command.items(query(options, name, in: group)).isEmpty {
                throw duplicate(name)
            }
            return group
        } catch {
            throw failure(error, options)
        }
    }

    private static func duplicate(_ name: String) -> Failure {
        Failure(
            .duplicateItem, "\(name) exists already.", hint: "Replace it with --replace, or delete it first.")
    }

    /// The one item of that name. Throws if there is none, or if several access groups have one: the command never
    /// chooses among them.
    private static func onlyItem(
        _ options: Options, _ name: String
    ) throws(CommandFailure) -> (query: ItemQuery, item: FoundItem) {
        let query = query(options, name, in: options[.group])
        let items: [FoundItem]
        do throws(Failure) { items = try Client.command.items(query) } catch { throw failure(error, options) }
        guard let item = items.first else { throw .failure(missing(name)) }
        guard items.count > 1 else { return (query, item) }
        let list = items.map { $0.text(.accessGroup) }.joined(separator: ", ")
        throw .usage("\(name) is in several access groups: \(list)", "Choose one with --group GROUP")
    }

    /// The failure where no item has a name, which says where another one of that name is.
    private static func missing(_ name: String) -> Failure {
        // If they cannot be listed now, the hint says less.
        let others =
            (try? Client.command.items(ItemQuery(itemClass: .genericPassword, attributes: [.account: .text(name)])))
        let hint: Phrase
        if let other = others?.first, !other.place.isEmpty {
            hint =
                "One of that name is in service \(other.place), group \(other.text(.accessGroup)): see --service and --group"
        } else if let keys = try? NamedKey.all(named: name), !keys.isEmpty {
            hint = "A key has that name, see: latchkey key list"
        } else {
            hint = "See: latchkey list"
        }
        return Failure(.itemNotFound, "There is no item \(name).", hint: hint)
    }

    /// Names as a prompt lists them: "a, b and c".
    private static func joined(_ names: [String]) -> String {
        guard names.count > 1 else { return names[0] }
        let first = names.dropLast().joined(separator: ", ")
        return localized("\(first) and \(names[names.count - 1])", context: "names")
    }

    /// Bytes of a list of names that a prompt shows as a whole, also on a narrow terminal.
    private static let longestList = 120

    /// Reads the secrets of these items. One prompt releases all whose protection it meets.
    ///
    /// - Parameter reason: what the prompt says, for a list of their titles.
    static func secrets(
        of names: [String], _ options: Options, reason: (String) -> String
    ) throws(CommandFailure) -> [SecretBytes] {
        // Nothing is asked for if one is missing.
        var queries: [ItemQuery] = []
        var (titles, guarded): ([String], [String]) = ([], [])
        for (place, name) in names.enumerated() {
            let (query, item) = try onlyItem(options, name)
            queries.append(query)
            titles.append(item.title)
            let isFirst = !names[..<place].containsBytes(of: name)
            if isFirst, item.accessControl?.isProtected ?? true { guarded.append(item.title) }
        }
        let list = joined(guarded.isEmpty ? [titles[0]] : guarded)
        // The prompt must show every name for which it asks.
        guard guarded.count < 2 || list.utf8.count <= longestList else {
            throw .usage("the prompt cannot show so many names of protected items", "Ask for fewer at a time.")
        }
        var authentication = Authentication(prompting: Prompting(reason: reason(list)).clipped)
        if names.count > 1 {
            // Its proofs end with the connection of this command.
            authentication.context = try call(Request.CreateContext(), options)
        }
        var secrets: [SecretBytes] = []
        for (name, query) in zip(names, queries) { secrets.append(try secret(name, query, authentication, options)) }
        return secrets
    }

    /// Writes one secret as it is, or several, each on lines of its own.
    static func get(_ options: Options) throws(CommandFailure) {
        let names = options.arguments
        let secrets = try secrets(of: names, options) { localized("read \($0)") }
        guard !options.isJSON else {
            let objects = zip(names, secrets).map { json($0, $1) }
            return Output.write((names.count == 1 ? objects[0] : JSON.array(objects)).line + "\n")
        }
        let isOnScreen = StandardStream.output.isTerminal
        for (name, secret) in zip(names, secrets) where isOnScreen && !options.has(.force) && !secret.isText {
            throw .usage(
                "\(name) is not text and would go to the terminal", "Use a pipe or a file, --json, or --force.")
        }
        for secret in secrets {
            Output.write(secret)
            // On a terminal the shell's next prompt begins on a new line; a pipe gets the bytes of a single one only.
            if isOnScreen || names.count > 1, secret.withBytes({ $0.last }) != 0x0a { Output.write("\n") }
        }
    }

    private static func secret(
        _ name: String, _ query: ItemQuery, _ authentication: Authentication, _ options: Options
    ) throws(CommandFailure) -> SecretBytes {
        let request = Request.CopyItems(query: query, limit: .one, returns: .data, authentication: authentication)
        let items: [FoundItem]
        do throws(CommandFailure) { items = try call(request, options) } catch {
            // It was deleted meanwhile.
            if case .failure(let failure) = error, failure.status == .itemNotFound { throw .failure(missing(name)) }
            throw error
        }
        guard let secret = items.first?.secret else {
            throw .failure(Failure(.itemNotFound, "\(name) was stored without a secret."))
        }
        return secret
    }

    /// A secret need not be text, so JSON also has its bytes in hexadecimal.
    private static func json(_ name: String, _ secret: SecretBytes) -> JSON {
        let text = secret.withBytes { String(validating: $0, as: UTF8.self) }
        return .object([
            ("name", .text(name)), ("secret", text.map { .text($0) } ?? .null),
            ("hex", .text(secret.withBytes(Hexadecimal.encode))),
        ])
    }

    static func list(_ options: Options) throws(CommandFailure) {
        guard !options.has(.all) || !options.isServiceGiven else {
            throw .usage("--all and --service cannot be used together", "Choose one.")
        }
        guard !options.has(.all) || !options.has(.group) else {
            throw .usage("--all and --group cannot be used together", "Choose one.")
        }
        let items: [FoundItem]
        do throws(Failure) {
            items =
                options.has(.all)
                ? try Client.command.itemsOfEveryApp()
                : try Client.command.items(query(options, nil, in: options[.group]))
        } catch {
            throw failure(error, options)
        }
        if options.isJSON { return Output.write(JSON.array(items.map(\.json)).line + "\n") }
        if options.has(.all), !items.isEmpty {
            let rows = items.map {
                [$0.text(.accessGroup), $0.kind, $0.name, $0.place, $0.protection, $0.changed, $0.text(.label)]
            }
            return Output.write(Table.text([Table.heads.all] + rows.sorted { $0.lexicographicallyPrecedes($1) }))
        }
        if items.isEmpty {
            let others = options.has(.all) ? "" : localized("Items of other apps: latchkey list --all\n")
            return Output.writeError(localized("No items. Store one with: latchkey set NAME\n") + others)
        }
        // The group is only shown where it distinguishes items.
        let showsGroup = Set(items.map { $0.text(.accessGroup) }).count > 1
        let rows = items.map { item in
            (showsGroup ? [item.text(.accessGroup)] : [])
                + [item.text(.account), item.text(.service), item.protection, item.changed, item.text(.label)]
        }
        let heads = (showsGroup ? [localized("GROUP")] : []) + Table.heads.own
        Output.write(Table.text([heads] + rows.sorted { $0.lexicographicallyPrecedes($1) }))
    }

    static func delete(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        do throws(CommandFailure) { try call(Request.DeleteItems(try onlyItem(options, name).query), options) } catch {
            // It was deleted meanwhile.
            if case .failure(let failure) = error, failure.status == .itemNotFound { throw .failure(missing(name)) }
            throw error
        }
        Output.writeDeleted(name, localized("\(name.withoutControls) is deleted."), options)
    }
}

extension FoundItem {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("service", .text(place)), ("label", .text(text(.label))),
            ("group", .text(text(.accessGroup))), ("class", .text("\(itemClass)")), ("protection", .text(protection)),
            ("created", moment(.creationDate)), ("changed", moment(.modificationDate)),
        ])
    }

    private func moment(_ code: AttributeCode) -> JSON {
        guard case .date(let time) = attributes?[code] else { return .null }
        return .text(AuditLine.moment(time))
    }

    /// The day of the last change, in the user's time zone, in the format of ISO 8601.
    fileprivate var changed: String {
        guard case .date(let time) = attributes?[.modificationDate] else { return "" }
        return AuditLine.day(time)
    }
}
