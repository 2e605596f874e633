// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// run: gives the secrets of items to a command, which replaces this process, so that signals and its exit status need no
/// passing on.
enum RunCommand {
    private static let netrcName = "NETRC"

    static func run(_ options: Options) throws(CommandFailure) {
        let variables = try variables(options)
        let logins = try logins(options)
        guard !variables.isEmpty || !logins.isEmpty else {
            throw .usage("run needs --env or --netrc", "See: latchkey help run")
        }
        let name = String(showing: options.command[0])
        // Decided before anything is asked for.
        let file = try find(options.command[0], name)
        let secrets = try Items.secrets(of: variables.map(\.item) + logins.map(\.item), options) {
            localized("give \($0) to \(Files.name(of: name))")
        }
        var entries = Entries()
        for (variable, secret) in zip(variables, secrets) {
            guard secret.withBytes({ !$0.contains(0) }) else {
                throw .usage(
                    "\(variable.item) has a zero byte, which no variable of the environment can have",
                    "Write it to a file or a pipe with: latchkey get")
            }
            entries.append(variable.name, secret.withoutLineFeed)
        }
        let netrc = try netrc(logins, Array(secrets.dropFirst(variables.count)))
        if let netrc {
            entries.append(netrcName, SecretBytes("/proc/self/fd/\(netrc.number)".utf8))
        }
        ProgramStart.undo()
        let error = Processes.become(file, options.command, variables: entries.bytes)
        withExtendedLifetime(netrc) {}
        throw unexecutable(name, error)
    }

    private static func find(_ command: [UInt8], _ name: String) throws(CommandFailure) -> FilePath {
        do throws(SystemError) { return try Processes.find(command) } catch {
            guard error.code == ENOENT else { throw unexecutable(name, error) }
            throw .execution(Failure(.itemNotFound, "There is no command \(name)."), exitCode: 127)
        }
    }

    private static func unexecutable(_ name: String, _ error: SystemError) -> CommandFailure {
        .execution(
            Failure(.notPermitted, "\(name) cannot be executed: \(String(cString: strerror(error.code)))"),
            exitCode: 126)
    }

    // MARK: - Options

    /// The parts of `NAME=ITEM`.
    private static func parts(
        _ text: String, of option: OptionName
    ) throws(CommandFailure) -> (name: String, item: String) {
        let parts = text.parts(at: "=", maxSplits: 1, omittingEmpty: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw .usage(
                "\(option.word) takes \(option.value?.name ?? ""), not \(text)", "See: latchkey help run")
        }
        return (parts[0], parts[1])
    }

    private static func variables(_ options: Options) throws(CommandFailure) -> [(name: String, item: String)] {
        var found: [(name: String, item: String)] = []
        for text in options.all(.env) {
            let variable = try parts(text, of: .env)
            guard variable.name.utf8.allSatisfy(isOfName), variable.name.utf8.first.map({ !isDigit($0) }) == true else {
                throw .usage(
                    "\(variable.name) is no name of a variable",
                    "It has letters of ASCII, digits and _, and no digit first.")
            }
            let isNetrc = variable.name == netrcName && options.has(.netrc)
            guard !isNetrc, !found.contains(where: { $0.name == variable.name }) else {
                throw .usage("\(variable.name) is given twice", "Give each variable once.")
            }
            found.append(variable)
        }
        return found
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isOfName(_ byte: UInt8) -> Bool {
        let character = Unicode.Scalar(byte)
        return byte == UInt8(ascii: "_") || isDigit(byte) || byte < 0x80 && character.properties.isAlphabetic
    }

    // MARK: - netrc

    private struct Login {
        var host: String
        /// The name that the host knows.
        var name: String
        var item: String
    }

    private static func logins(_ options: Options) throws(CommandFailure) -> [Login] {
        var found: [Login] = []
        for text in options.all(.netrc) {
            let (place, item) = try parts(text, of: .netrc)
            // A login can be an address of mail.
            let sign = place.unicodeScalars.lastIndex(of: "@")
            let host = sign.map { String(place[place.unicodeScalars.index(after: $0)...]) } ?? place
            let login = Login(host: host, name: sign.map { String(place[..<$0]) } ?? item, item: item)
            for word in [login.host, login.name] where !isNetrcWord(word.utf8) {
                throw .usage(
                    "a netrc cannot have the word \(word)",
                    "Use LOGIN@HOST=ITEM, without blanks, quotes and backslashes.")
            }
            found.append(login)
        }
        return found
    }

    /// Whether every reader of a netrc takes the bytes for one word: they differ in quotes and escapes.
    private static func isNetrcWord(_ bytes: some Collection<UInt8>) -> Bool {
        let special = "\"'\\".utf8
        return !bytes.isEmpty && bytes.first != UInt8(ascii: "#")
            && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7f && !special.contains($0) }
    }

    /// The file of the logins, which the command inherits; nil without any.
    private static func netrc(_ logins: [Login], _ secrets: [SecretBytes]) throws(CommandFailure) -> Descriptor? {
        guard !logins.isEmpty else { return nil }
        var lines: [SecretBytes] = []
        for (login, secret) in zip(logins, secrets) {
            let secret = secret.withoutLineFeed
            guard secret.withBytes({ isNetrcWord($0) }) else {
                throw .usage(
                    "\(login.item) is empty, or has blanks, quotes or other bytes that a netrc cannot contain",
                    "Give it to the command with --env.")
            }
            lines += [
                SecretBytes("machine \(login.host) login \(login.name) password ".utf8), secret, SecretBytes([0x0a]),
            ]
        }
        do throws(SystemError) {
            let file = try Descriptor.memory(SecretBytes(joining: lines), name: "netrc")
            try file.passOn()
            return file
        } catch {
            throw .failure(Failure(error, "The netrc cannot be made"))
        }
    }

    /// Entries of an environment, each with a zero byte after it.
    private struct Entries {
        private var pieces: [SecretBytes] = []

        mutating func append(_ name: String, _ value: SecretBytes) {
            pieces += [SecretBytes("\(name)=".utf8), value, SecretBytes([0])]
        }

        var bytes: SecretBytes { SecretBytes(joining: pieces) }
    }
}

extension SecretBytes {
    /// The bytes of all pieces, one after the other.
    convenience init(joining pieces: [SecretBytes]) {
        self.init(count: pieces.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for piece in pieces {
                piece.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0) }
                offset += piece.count
            }
        }
    }

    /// The bytes without a line feed at their end, which is from echo(1) or an editor; as `$(...)` of a shell gives them.
    var withoutLineFeed: SecretBytes {
        withBytes { bytes in
            bytes.last == 0x0a ? SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.dropLast())) : self
        }
    }
}
