// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySettings

/// set, get, list, delete: generic passwords of the command's own access group.
enum Items {
    private static func call(_ request: Request) throws(CommandFailure) -> Reply {
        do throws(Failure) {
            return try Client.command.call(request)
        } catch {
            throw .failure(error)
        }
    }

    private static func query(_ options: Options, _ name: String?) -> ItemQuery {
        var query = ItemQuery(itemClass: .genericPassword)
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
        try check(name, rule, options)
        let secret = try Input.secret(localized("Secret for \(name): "))
        // A pipe whose first command failed is empty and would replace a secret with an empty one.
        guard secret.count > 0 || options.has(.allowEmpty) else {
            throw .usage("the secret is empty", "To store an empty secret, add --allow-empty")
        }
        var attributes = query(options, name).attributes
        if let label = options.label { attributes[.label] = .text(label) }
        let authentication = Authentication(prompting: Prompting(reason: localized("store \(name)")).clipped)
        do throws(CommandFailure) {
            _ = try call(
                .addItem(
                    Request.AddItem(
                        itemClass: .genericPassword, attributes: attributes, accessControl: rule, secret: secret,
                        returns: [], authentication: authentication)))
        } catch {
            guard case .failure(let failure) = error, failure.status == .duplicateItem else { throw error }
            guard options.replaces else { throw .failure(duplicate(name)) }
            var changes: Attributes = [:]
            if let label = options.label { changes[.label] = .text(label) }
            _ = try call(
                .updateItems(
                    Request.UpdateItems(
                        query: query(options, name), changes: changes,
                        accessControl: options.protection == nil ? nil : rule, secret: secret,
                        authentication: authentication)))
        }
        if options.isJSON { Output.write(JSON.object([("stored", .text(name))]).line + "\n") }
    }

    /// Checks everything that can be checked before the user types a secret. For a pipe the daemon's own checks are
    /// enough.
    private static func check(_ name: String, _ rule: AccessControl, _ options: Options) throws(CommandFailure) {
        do throws(Failure) {
            let report = try Client.command.status()
            try rule.checkIsPossible(report)
            guard isatty(STDIN_FILENO) == 1 else { return }
            if let problem = report.problem { throw problem }
            guard !report.isLocked else {
                throw Failure(
                    .interactionNotAllowed, "The keychain is locked.", hint: "Unlock it with: latchkey unlock")
            }
            if !options.replaces, try !Client.command.items(query(options, name)).isEmpty { throw duplicate(name) }
        } catch {
            throw .failure(error)
        }
    }

    private static func duplicate(_ name: String) -> Failure {
        Failure(
            .duplicateItem, "\(name) exists already.", hint: "Replace it with --replace, or delete it first.")
    }

    static func get(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let authentication = Authentication(prompting: Prompting(reason: localized("read \(name)")).clipped)
        let reply = try call(
            .copyItems(
                Request.CopyItems(
                    query: query(options, name), limit: .one, returns: .data, authentication: authentication)))
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
        if isatty(STDOUT_FILENO) == 1 { Output.write("\n") }
    }

    static func list(_ options: Options) throws(CommandFailure) {
        guard !options.has(.all) || !options.isServiceGiven else {
            throw .usage("--all and --service cannot be used together", "Choose one.")
        }
        let items: [FoundItem]
        do throws(Failure) {
            items =
                options.has(.all)
                ? try Client.command.itemsOfEveryApp() : try Client.command.items(query(options, nil))
        } catch {
            throw .failure(error)
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
        Output.write(Table.text([Table.heads.own] + rows))
    }

    static func delete(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        _ = try call(.deleteItems(query(options, name)))
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
