// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel

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
        let rule = try AccessControl(protection: options.protection)
        let secret = try Input.secret("Secret for \(name): ")
        // A pipe whose first command failed gives nothing, which would replace a secret by nothing.
        guard secret.count > 0 || options.has(.allowEmpty) else {
            throw .usage("the secret is empty", "If it has to be, say so: --allow-empty")
        }
        var attributes = query(options, name).attributes
        if let label = options.label { attributes[.label] = .text(label) }
        let authentication = Authentication(prompting: Prompting(reason: "store \(name)").clipped)
        do throws(CommandFailure) {
            _ = try call(
                .addItem(
                    Request.AddItem(
                        itemClass: .genericPassword, attributes: attributes, accessControl: rule, secret: secret,
                        returns: [], authentication: authentication)))
        } catch {
            guard case .failure(let failure) = error, failure.status == .duplicateItem else { throw error }
            guard options.replaces else {
                throw .failure(
                    Failure(
                        .duplicateItem, "\(name) exists already.",
                        hint: "Replace it with --replace, or delete it first."))
            }
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

    static func get(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let authentication = Authentication(prompting: Prompting(reason: "read \(name)").clipped)
        let reply = try call(
            .copyItems(
                Request.CopyItems(
                    query: query(options, name), limit: 1, returns: .data, authentication: authentication)))
        guard case .items(let items, _) = reply, let item = items.first else { return }
        guard let secret = item.secret else {
            throw .failure(Failure(.itemNotFound, "\(name) was stored without a secret."))
        }
        guard !options.isJSON else {
            // A secret need not be text, so JSON gets its bytes in hexadecimal as well.
            let text = secret.withBytes { String(validating: $0, as: UTF8.self) }
            let pairs: [(String, JSON)] = [
                ("name", .text(name)), ("secret", text.map { .text($0) } ?? .null),
                ("hex", .text(secret.withBytes(Hexadecimal.encode))),
            ]
            return Output.write(JSON.object(pairs).line + "\n")
        }
        Output.write(secret)
        // On a screen the next prompt begins on a line of its own; a pipe gets the bytes and nothing else.
        if isatty(STDOUT_FILENO) == 1 { Output.write("\n") }
    }

    static func list(_ options: Options) throws(CommandFailure) {
        guard case .items(let items, _) = try call(.listItems(query(options, nil))) else { return }
        if options.isJSON {
            return Output.write(JSON.array(items.map(\.json)).line + "\n")
        }
        if items.isEmpty { return Output.writeError("No items. Store one with: latchkey set NAME\n") }
        let rows = items.map { [$0.text(.account), $0.text(.service), $0.protection, $0.text(.label)] }
        Output.write(Table.text([["NAME", "SERVICE", "PROTECTION", "LABEL"]] + rows))
    }

    static func delete(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        _ = try call(.deleteItems(query(options, name)))
        if options.isJSON { Output.write(JSON.object([("deleted", .text(name))]).line + "\n") }
    }
}

extension FoundItem {
    fileprivate func text(_ code: AttributeCode) -> String {
        if case .text(let text) = attributes?[code] { text } else { "" }
    }

    fileprivate var protection: String { accessControl?.protection ?? "none" }

    fileprivate var json: JSON {
        .object([
            ("name", .text(text(.account))), ("service", .text(text(.service))), ("label", .text(text(.label))),
            ("group", .text(text(.accessGroup))), ("protection", .text(protection)),
        ])
    }
}
