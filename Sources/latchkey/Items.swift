// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySettings
import LatchkeySystem

/// set, get, list, delete: generic passwords of the command's own access groups.
enum Items {
    private static func call(_ request: Request, _ options: Options) throws(CommandFailure) -> Reply {
        do throws(Failure) {
            return try Client.command.call(request)
        } catch {
            throw failure(error, options)
        }
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
        let rule = try AccessControl(protection: options.protection, staysHere: options.has(.deviceOnly))
        guard !options.replaces || !options.has(.deviceOnly) || options.protection != nil else {
            throw .usage(
                "--device-only changes the protection of the replaced item, and --protect is missing",
                "Add --protect, or leave out --device-only.")
        }
        // An item of another group is another item, so only the one in the group of the new item exists already.
        let existing = query(options, name, in: try check(name, rule, options))
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
                .addItem(
                    Request.AddItem(
                        itemClass: .genericPassword, attributes: attributes, accessControl: rule, secret: secret,
                        returns: [], authentication: authentication)), options)
        } catch {
            guard case .failure(let failure) = error, failure.status == .duplicateItem else { throw error }
            guard options.replaces else { throw .failure(duplicate(name)) }
            var changes: Attributes = [:]
            if let label = options.label { changes[.label] = .text(label) }
            _ = try call(
                .updateItems(
                    Request.UpdateItems(
                        query: existing, changes: changes,
                        accessControl: options.protection == nil ? nil : rule, secret: secret,
                        authentication: authentication)), options)
        }
        if options.isJSON { Output.write(JSON.object([("stored", .text(name))]).line + "\n") }
    }

    /// Checks everything that can be checked before the user types a secret. For a pipe the daemon's own checks are
    /// enough.
    ///
    /// - Returns: the access group of the new item.
    private static func check(
        _ name: String, _ rule: AccessControl, _ options: Options
    ) throws(CommandFailure) -> String {
        do throws(Failure) {
            let report = try Client.command.status()
            try rule.checkIsPossible(report)
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

    /// The one item of that name. Throws if several access groups have one: the command never chooses among them.
    private static func onlyItem(_ options: Options, _ name: String) throws(CommandFailure) -> ItemQuery {
        let query = query(options, name, in: options[.group])
        guard options[.group] == nil else { return query }
        let groups: [String]
        do throws(Failure) {
            groups = try Client.command.items(query).map { $0.text(.accessGroup) }
        } catch {
            throw .failure(error)
        }
        guard groups.count > 1 else { return query }
        let list = groups.joined(separator: ", ")
        throw .usage("\(name) is in several access groups: \(list)", "Choose one with --group GROUP")
    }

    static func get(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let authentication = Authentication(prompting: Prompting(reason: localized("read \(name)")).clipped)
        let reply = try call(
            .copyItems(
                Request.CopyItems(
                    query: try onlyItem(options, name), limit: .one, returns: .data, authentication: authentication)),
            options)
        guard case .items(let items, _) = reply, let item = items.first else { return }
        guard let secret = item.secret else {
            throw .failure(Failure(.itemNotFound, "\(name) was stored without a secret."))
        }
        guard !options.isJSON else {
            // A secret need not be text, so JSON also has its bytes in hexadecimal.
            let text = secret.withBytes { String(validating: $0, as: UTF8.self) }
            let pairs: [(String, JSON)] = [
                ("name", .text(name)), ("secret", text.map { .text($0) } ?? .null),
                ("hex", .text(secret.withBytes(Hexadecimal.encode))),
            ]
            return Output.write(JSON.object(pairs).line + "\n")
        }
        Output.write(secret)
        // On a terminal the shell's next prompt begins on a new line; a pipe gets the bytes only.
        if StandardStream.output.isTerminal { Output.write("\n") }
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
        if options.isJSON {
            return Output.write(JSON.array(items.map(\.json)).line + "\n")
        }
        if options.has(.all), !items.isEmpty {
            let rows = items.map {
                [$0.text(.accessGroup), $0.kind, $0.name, $0.place, $0.protection, $0.text(.label)]
            }
            return Output.write(
                Table.text(
                    [Table.heads.all] + rows.sorted { $0[0] < $1[0] }))
        }
        if items.isEmpty { return Output.writeError(localized("No items. Store one with: latchkey set NAME\n")) }
        let rows = items.map { [$0.text(.account), $0.text(.service), $0.protection, $0.text(.label)] }
        // The group is only shown where it distinguishes items.
        guard Set(items.map { $0.text(.accessGroup) }).count > 1 else {
            return Output.write(Table.text([Table.heads.own] + rows))
        }
        let withGroups = zip(items, rows).map { item, row in [item.text(.accessGroup)] + row }
        Output.write(Table.text([[localized("GROUP")] + Table.heads.own] + withGroups))
    }

    static func delete(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        _ = try call(.deleteItems(try onlyItem(options, name)), options)
        if options.isJSON { Output.write(JSON.object([("deleted", .text(name))]).line + "\n") }
    }
}

extension FoundItem {
    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("service", .text(place)), ("label", .text(text(.label))),
            ("group", .text(text(.accessGroup))), ("class", .text("\(itemClass)")), ("protection", .text(protection)),
        ])
    }
}
