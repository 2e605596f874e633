// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem
import StrictJSON

/// credential docker: a helper of docker, with the texts of docker-credential-helpers, which docker compares.
enum DockerCredential {
    private static let missing = "credentials not found in native keychain"
    private static let noServer = "no credentials server URL"
    private static let noUsername = "no credentials username"
    /// Maximum bytes of a request: escaped, a password is six times as long.
    private static let requestBytes = 6 * Limits.secretBytes + (64 << 10)

    /// An error as docker shows it.
    private enum Refusal: Error {
        case text(String)
        case command(CommandFailure)
    }

    static func run(_ options: Options) throws(CommandFailure) {
        let items = CredentialItems(.docker, options)
        do throws(Refusal) {
            switch options.arguments[0] {
            case "get": try get(try server(), items)
            case "store": try store(items)
            case "erase": try erase(try server(), items)
            case "list": try list(items)
            case "version": Output.write("docker-credential-latchkey (latchkey) \(productVersion)\n")
            case let action: throw .text("docker-credential-latchkey: unknown action: \(action)")
            }
        } catch {
            switch error {
            case .text(let text):
                Output.write(text + "\n")
                ProgramEnd.now(1)
            case .command(let failure):
                // docker shows what is on standard output only.
                if case .failure(let failure) = failure { Output.write(localized(failure.text) + "\n") }
                throw failure
            }
        }
    }

    /// Runs a body that throws the failures of the command.
    private static func passing<R>(_ body: () throws(CommandFailure) -> R) throws(Refusal) -> R {
        do throws(CommandFailure) { return try body() } catch { throw .command(error) }
    }

    private static func calling<R>(_ body: () throws(Failure) -> R) throws(Refusal) -> R {
        try passing { () throws(CommandFailure) in try failing(body) }
    }

    /// The name of a server, which is the whole input.
    private static func server() throws(Refusal) -> CredentialPlace {
        let input = try passing { () throws(CommandFailure) in try Input.whole(nil, limit: Limits.attributeBytes) }
        guard let text = input.withBytes({ String(validating: $0, as: UTF8.self) }) else { throw .text(noServer) }
        let blanks = { (character: Unicode.Scalar) in character.properties.isWhitespace }
        let trimmed = text.unicodeScalars.drop(while: blanks).reversed().drop(while: blanks).reversed()
        guard !trimmed.isEmpty else { throw .text(noServer) }
        return CredentialPlace(url: String(String.UnicodeScalarView(trimmed)))
    }

    private static func get(_ place: CredentialPlace, _ items: CredentialItems) throws(Refusal) {
        guard let item = try calling({ () throws(Failure) in try items.items(at: place).first }) else {
            throw .text(missing)
        }
        let secret = try calling { () throws(Failure) in try items.secret(of: item) }
        guard let text = secret.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw .text("the secret is not text")
        }
        let reply = JSON.object([
            ("ServerURL", .text(place.url)), ("Username", .text(item.text(.account))), ("Secret", .text(text)),
        ])
        Output.write(reply.line + "\n")
    }

    private static func store(_ items: CredentialItems) throws(Refusal) {
        let input = try passing { () throws(CommandFailure) in try Input.whole(nil, limit: requestBytes) }
        var bytes = input.copyBytes()
        defer { wipe(&bytes) }
        guard let request = try? JSONReader.read(bytes) else { throw .text("the credentials are no JSON") }
        guard let server = request.member("ServerURL")?.text, !server.isEmpty else { throw .text(noServer) }
        guard let username = request.member("Username")?.text, !username.isEmpty else { throw .text(noUsername) }
        guard let secret = request.member("Secret")?.text else { throw .text("no credentials secret") }
        let place = CredentialPlace(url: server)
        try passing { () throws(CommandFailure) in
            try items.store(SecretBytes(secret.utf8), at: place, username)
            // docker has one account for each server.
            try failing { () throws(Failure) in
                for item in try items.items(at: place) where !item.text(.account).hasBytes(of: username) {
                    try items.delete(item)
                }
            }
        }
    }

    private static func erase(_ place: CredentialPlace, _ items: CredentialItems) throws(Refusal) {
        let found = try calling { () throws(Failure) in try items.items(at: place) }
        guard !found.isEmpty else { throw .text(missing) }
        try calling { () throws(Failure) in for item in found { try items.delete(item) } }
    }

    private static func list(_ items: CredentialItems) throws(Refusal) {
        let found = try calling { () throws(Failure) in try items.all() }
        var rows: [(String, JSON)] = []
        for item in found {
            let url = CredentialPlace(item).url
            if !rows.contains(where: { $0.0.hasBytes(of: url) }) { rows.append((url, .text(item.text(.account)))) }
        }
        Output.write(JSON.object(rows.sorted { $0.0 < $1.0 }).line + "\n")
    }
}
