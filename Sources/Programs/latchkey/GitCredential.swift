// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyModel

/// credential git: a helper of git (gitcredentials(7), and git-credential(1) for the format).
enum GitCredential {
    /// What a reply contains, and git sends back where it supports that (2.46): the password is the one that is stored.
    private static let state = "latchkey.stored=1"

    static func run(_ options: Options) throws(CommandFailure) {
        let items = CredentialItems(.git, options)
        switch options.arguments[0] {
        case "get": try get(try Description(), items)
        case "store": try store(try Description(), items)
        case "erase": try erase(try Description(), items)
        case "capability": Output.write("version 0\ncapability state\n")
        // Of a later version of git, which expects helpers to ignore it.
        default: return
        }
    }

    /// The fields of a request that are understood.
    private struct Description {
        private static let names: Set = ["protocol", "host", "path", "username", "password", "capability[]", "state[]"]

        var place: CredentialPlace?
        var username: String?
        var password: SecretBytes?
        var takesState = false
        var isStored = false

        /// Reads standard input to its end, and the fields before the first empty line.
        init() throws(CommandFailure) {
            let input = try Input.whole(nil, limit: 2 * Limits.secretBytes)
            var texts: [String: String] = [:]
            try input.withBytes { (bytes) throws(CommandFailure) in
                for line in bytes.split(separator: 0x0a, omittingEmptySubsequences: false).prefix(while: { !$0.isEmpty }
                ) {
                    guard let sign = line.firstIndex(of: UInt8(ascii: "=")), !line.contains(0) else {
                        throw Self.malformed
                    }
                    let name = String(decoding: line[..<sign], as: UTF8.self)
                    guard Self.names.contains(name) else { continue }
                    try take(name, UnsafeRawBufferPointer(rebasing: line[(sign + 1)...]), &texts)
                }
            }
            username = texts["username"]
            // git asks for nothing without both.
            guard let scheme = texts["protocol"], let host = texts["host"], !host.isEmpty else { return }
            place = CredentialPlace(scheme: scheme, host: host, path: texts["path"] ?? "")
        }

        private mutating func take(
            _ name: String, _ value: UnsafeRawBufferPointer, _ texts: inout [String: String]
        ) throws(CommandFailure) {
            if name == "password" {
                password = SecretBytes(copying: value)
                return
            }
            guard value.count <= Limits.attributeBytes, let text = String(validating: value, as: UTF8.self) else {
                throw Self.malformed
            }
            switch name {
            case "capability[]": takesState = takesState || text == "state"
            case "state[]": isStored = isStored || text == GitCredential.state
            default: texts[name] = text
            }
        }

        private static let malformed = CommandFailure.failure(
            Failure(.malformedRequest, "Standard input is no description of a credential, as git writes it."))
    }

    private static func get(_ description: Description, _ items: CredentialItems) throws(CommandFailure) {
        guard let place = description.place else { return }
        let reply = try failing { () throws(Failure) -> SecretBytes? in
            // Of several accounts the first one by name; git can ask for another one.
            let found = try items.items(at: place, description.username)
            guard let item = found.min(by: { $0.text(.account) < $1.text(.account) }) else { return nil }
            let secret = try items.secret(of: item)
            let account = SecretBytes(item.text(.account).utf8)
            guard [secret, account].allSatisfy({ $0.withBytes { !$0.contains(0x0a) && !$0.contains(0) } }) else {
                throw Failure(
                    .invalidParameter,
                    "The password of \(item.text(.account)) or that name has several lines, which git cannot read.")
            }
            let state = description.takesState ? "capability[]=state\nstate[]=\(Self.state)\n" : ""
            return SecretBytes(joining: [
                SecretBytes("\(state)username=".utf8), account, SecretBytes("\npassword=".utf8), secret,
                SecretBytes([0x0a]),
            ])
        }
        if let reply { Output.write(reply) }
    }

    private static func store(_ description: Description, _ items: CredentialItems) throws(CommandFailure) {
        guard let place = description.place, let username = description.username, let password = description.password,
            !description.isStored
        else { return }
        try items.store(password, at: place, username)
    }

    /// Deletes the item that has everything that is given. Without a username it must be the only one of its place.
    private static func erase(_ description: Description, _ items: CredentialItems) throws(CommandFailure) {
        guard let place = description.place else { return }
        try failing { () throws(Failure) in
            let found = try items.items(at: place, description.username)
            guard let item = found.first, found.count == 1 else { return }
            // Another process may have stored a new password since this one was refused.
            if let password = description.password, try items.secret(of: item) != password { return }
            try items.delete(item)
        }
    }
}
