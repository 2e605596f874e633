// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// A program of others that calls this one for its passwords, by a name of its own.
enum CredentialTool: String, CaseIterable {
    case git, docker, cargo

    /// The name by which the tool finds this program: a link to it.
    var helper: String { rawValue + "-credential-latchkey" }

    /// The words before the arguments if this process was started by such a name.
    static var words: [[UInt8]] {
        guard CommandLine.argc > 0, let first = CommandLine.unsafeArgv[0],
            let name = String(validatingCString: first).map(Files.name(of:)),
            let tool = allCases.first(where: { $0.helper.hasBytes(of: name) })
        else { return [] }
        return [Array("credential".utf8), Array(tool.rawValue.utf8)]
    }
}

/// The passwords of a tool: internet passwords in the access groups of the command, which have the name of the tool as their
/// security domain, so that no tool gets the password of another one.
struct CredentialItems {
    let tool: CredentialTool
    /// The protection of a new item; nil for the default.
    let protection: String?

    init(_ tool: CredentialTool, _ options: Options) {
        (self.tool, protection) = (tool, options.protection)
    }

    private func query(_ place: CredentialPlace, _ account: String?) -> ItemQuery {
        var query = ItemQuery(itemClass: .internetPassword, attributes: place.attributes)
        query.attributes[.securityDomain] = .text(tool.rawValue)
        if let account { query.attributes[.account] = .text(account) }
        return query
    }

    /// The items of a place, without their secrets: those of the account, or of every account if it is nil.
    func items(at place: CredentialPlace, _ account: String? = nil) throws(Failure) -> [FoundItem] {
        try Client.command.items(query(place, account))
    }

    /// All items of the tool, without their secrets.
    func all() throws(Failure) -> [FoundItem] {
        try Client.command.items(
            ItemQuery(itemClass: .internetPassword, attributes: [.securityDomain: .text(tool.rawValue)]))
    }

    /// The query for an item that a list has named.
    private func query(_ item: FoundItem) -> ItemQuery {
        var query = query(CredentialPlace(item), item.text(.account))
        query.attributes[.accessGroup] = item.attributes?[.accessGroup]
        return query
    }

    private func authentication(_ reason: String) -> Authentication {
        Authentication(prompting: Prompting(reason: reason).clipped)
    }

    /// The password of an item, after a prompt if it is protected.
    func secret(of item: FoundItem) throws(Failure) -> SecretBytes {
        let reason = localized(
            "give \(tool.rawValue) the password of \(item.text(.account)) for \(CredentialPlace(item).url)")
        let found = try Client.command.call(
            Request.CopyItems(query: query(item), limit: .one, returns: .data, authentication: authentication(reason)))
        guard let secret = found.first?.secret else {
            throw Failure(.itemNotFound, "\(item.text(.account)) was stored without a secret.")
        }
        return secret
    }

    func delete(_ item: FoundItem) throws(Failure) { try Client.command.call(Request.DeleteItems(query(item))) }

    /// Stores a password, and replaces that of the same account, whose protection it gets.
    ///
    /// With the rules presence and none it never prompts: tools store a password again each time that it was accepted. A change of a protected item
    /// needs a proof and its deletion none, so that one is deleted and added.
    func store(_ secret: SecretBytes, at place: CredentialPlace, _ account: String) throws(CommandFailure) {
        let chosen = try AccessControl(protection: protection, staysHere: false)
        let old = try failing { () throws(Failure) in try items(at: place, account).first }
        if let old, let control = old.accessControl, protection == nil {
            return try failing { () throws(Failure) in
                guard control.isProtected else { return try replace(old, secret) }
                // Nothing could be added then, and the old password would be lost.
                guard try !Client.command.status().isLocked else {
                    throw Failure(
                        .interactionNotAllowed, "The keychain is locked.", hint: "Unlock it with: latchkey unlock")
                }
                try delete(old)
                try add(secret, query(old).attributes, control)
            }
        }
        let report = try failing { () throws(Failure) in try Client.command.status() }
        let control =
            protection == nil && report.isPasscodeSet
            ? try AccessControl(protection: "presence", staysHere: false) : chosen
        try failing { () throws(Failure) in
            try control.checkIsPossible(report)
            if let old { try delete(old) }
            try add(secret, query(place, account).attributes, control)
        }
    }

    private func replace(_ item: FoundItem, _ secret: SecretBytes) throws(Failure) {
        try Client.command.call(
            Request.UpdateItems(
                query: query(item), changes: [:], accessControl: nil, secret: secret,
                authentication: authentication("")))
    }

    private func add(
        _ secret: SecretBytes, _ attributes: Attributes, _ control: AccessControl
    ) throws(Failure) {
        _ = try Client.command.call(
            Request.AddItem(
                itemClass: .internetPassword, attributes: attributes, accessControl: control, secret: secret,
                returns: [],
                authentication: authentication("")))
    }
}
