// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem
import StrictJSON

/// credential cargo: a credential provider of cargo, version 1 of its protocol: lines of JSON on standard input and output.
enum CargoCredential {
    /// A registry has one token, and no name of a user.
    private static let account = "token"
    private static let lineBytes = 64 << 10

    static func run(_ options: Options) throws(CommandFailure) {
        let items = CredentialItems(.cargo, options)
        write(.object([("v", .array([.number(1)]))]))
        var lines = LineInput(limit: lineBytes)
        while true {
            var line: [UInt8]
            do throws(SystemError) {
                guard let next = try lines.next() else { return }
                line = next
            } catch {
                // What follows is not known to begin a line.
                guard error.code == EFBIG else { throw .stream(.input, error) }
                return write(failed("The request has more than \(lineBytes) bytes."))
            }
            defer { wipe(&line) }
            do throws(CommandFailure) { write(try answer(to: line, items)) } catch { write(failed(error)) }
        }
    }

    private static func write(_ message: JSON) { Output.write(message.line + "\n") }

    private static func done(_ kind: String, _ members: [(String, JSON)] = []) -> JSON {
        .object([("Ok", .object([("kind", .text(kind))] + members))])
    }

    private static func refused(_ kind: String, _ members: [(String, JSON)] = []) -> JSON {
        .object([("Err", .object([("kind", .text(kind))] + members))])
    }

    private static func failed(_ message: String) -> JSON {
        refused("other", [("message", .text(message)), ("caused-by", .array([]))])
    }

    private static func failed(_ failure: CommandFailure) -> JSON {
        switch failure {
        case .usage(let message, _): failed(localized(message))
        case .failure(let failure), .execution(let failure, _): failed(localized(failure.text))
        case .stream: failed(localized("Standard input cannot be read"))
        }
    }

    private static func answer(to line: [UInt8], _ items: CredentialItems) throws(CommandFailure) -> JSON {
        guard let request = try? JSONReader.read(line), let kind = request.member("kind")?.text,
            let url = request.member("registry")?.member("index-url")?.text, !url.isEmpty
        else { return failed("The request is no JSON of cargo's protocol.") }
        guard request.member("v")?.wholeNumber == 1 else {
            return failed("Only version 1 of the protocol is supported.")
        }
        let place = CredentialPlace(url: url)
        switch kind {
        case "get": return try get(place, items)
        case "login":
            let given = request.member("token")?.text.map { SecretBytes($0.utf8) }
            let token = if let given { given } else { try ask(request, url) }
            try items.store(token, at: place, account)
            return done("login")
        case "logout":
            guard let item = try failing({ () throws(Failure) in try items.items(at: place, account).first }) else {
                return refused("not-found")
            }
            try failing { () throws(Failure) in try items.delete(item) }
            return done("logout")
        default: return refused("operation-not-supported")
        }
    }

    private static func get(_ place: CredentialPlace, _ items: CredentialItems) throws(CommandFailure) -> JSON {
        guard let item = try failing({ () throws(Failure) in try items.items(at: place, account).first }) else {
            return refused("not-found")
        }
        let secret = try failing { () throws(Failure) in try items.secret(of: item) }
        guard let token = secret.withBytes({ String(validating: $0, as: UTF8.self) }) else {
            return failed("The token is not text.")
        }
        // cargo asks once in each of its processes.
        return done(
            "get", [("token", .text(token)), ("cache", .text("session")), ("operation_independent", .boolean(true))])
    }

    private static func ask(_ request: JSONValue, _ url: String) throws(CommandFailure) -> SecretBytes {
        let page = request.member("login-url")?.text ?? url
        let token = try Input.hiddenLine(localized("Token from \(page.withoutControls): "), capacity: 4096)
        guard token.count > 0 else { throw .usage("the token is empty", "Nothing was stored.") }
        return token
    }
}

/// The lines of standard input, each returned as soon as it is complete.
private struct LineInput {
    private var buffer: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The next line without its line feed; nil at the end. Throws EFBIG for a line of more than the limit.
    mutating func next() throws(SystemError) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0a) {
                defer { buffer.removeSubrange(...end) }
                return Array(buffer[..<end])
            }
            searched = buffer.count
            guard searched <= limit else { throw SystemError("read", code: EFBIG) }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = try piece.withUnsafeMutableBufferPointer { (memory) throws(SystemError) in
                try StandardStream.input.read(into: UnsafeMutableRawBufferPointer(memory))
            }
            guard count > 0 else {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : buffer
            }
            buffer += piece[..<count]
            wipe(&piece)
        }
    }
}
