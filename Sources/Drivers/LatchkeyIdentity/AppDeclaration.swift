// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// An app as a file of `/usr/share/latchkey/apps.d` declares it; `docs/reference/identity.md` describes the format.
package struct AppDeclaration: Equatable, Sendable {
    /// The label, and the first access group, of its programs.
    package let name: String
    package let programs: [String]
    /// Further access groups, which other apps may declare, too.
    package var groups: [String] = []

    /// Maximum programs of one app.
    private static let programLimit = 64

    /// A line that makes a file invalid.
    package struct Malformation: Error, Equatable, Sendable {
        /// The number of the line, from 1; 0 if the whole file is meant.
        package let line: Int
        package let message: String
    }

    /// Whether a group has the form of one that the system gives, so that no app may declare it.
    package static func isReserved(_ group: String) -> Bool { problem(ofGroup: group) != nil }

    /// What is wrong with a name or a group, as the end of a sentence; nil if nothing is.
    private static func problem(ofGroup text: String) -> String? {
        if text.utf8.count > Limits.applicationBytes { return "has more than \(Limits.applicationBytes) bytes" }
        // A label must not change the direction or the lines of the text around it in a prompt.
        if text.unicodeScalars.contains(where: \.controlsText) {
            return "contains an invisible or unassigned character"
        }
        for prefix in ["/", "unit:", "user:"] where text.begins(with: prefix) {
            return "begins with `\(prefix)`, which is reserved for programs without a declaration"
        }
        if text.hasBytes(of: SecretService.group) { return "is the group of the Secret Service" }
        return text == "com.apple.token" ? "is the group of smart cards" : nil
    }

    /// What is wrong with the path of a program, as the end of a sentence; nil if nothing is.
    private static func problem(ofProgram path: String) -> String? {
        if path.utf8.count > Limits.applicationBytes { return "has more than \(Limits.applicationBytes) bytes" }
        guard path.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return "has a character that is not ASCII" }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("/"), !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            return "is not an absolute path without `//`, `.` and `..`"
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
        let text = text.unicodeScalars.drop(while: isBlank)
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return "" }
        return Substring(text[...last])
    }
}

extension AppDeclaration {
    /// Parses a file, lines of `key = value`; empty lines and lines that begin with `#` are left out.
    ///
    /// - Throws: the first line that is unknown or malformed.
    package init(parsing bytes: [UInt8]) throws(Malformation) {
        var name: String?
        var programs: [String] = []
        var groups: [String] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            func refuse(_ message: String) -> Malformation { Malformation(line: index + 1, message: message) }
            guard let line = String(validating: line, as: UTF8.self) else { throw refuse("The line is not UTF-8.") }
            let text = Self.trimmed(line[...])
            if text.isEmpty || text.begins(with: "#") { continue }
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw refuse("The line is not of the form `key = value`.")
            }
            let key = Self.trimmed(text[..<equals])
            let value = String(Self.trimmed(text[text.utf8.index(after: equals)...]))
            guard !value.isEmpty else { throw refuse("`\(key)` has no value.") }
            switch key {
            case "name":
                guard name == nil else { throw refuse("The file has a second `name`.") }
                if let problem = Self.problem(ofGroup: value) { throw refuse("`name` \(problem).") }
                name = value
            case "program":
                if let problem = Self.problem(ofProgram: value) { throw refuse("`program` \(problem).") }
                guard !programs.containsBytes(of: value) else { throw refuse("The program is in the file twice.") }
                guard programs.count < Self.programLimit else {
                    throw refuse("The file has more than \(Self.programLimit) programs.")
                }
                programs.append(value)
            case "group":
                if let problem = Self.problem(ofGroup: value) { throw refuse("`group` \(problem).") }
                guard !groups.containsBytes(of: value) else { throw refuse("The group is in the file twice.") }
                // The name is a group, too.
                guard groups.count < Limits.accessGroups - 1 else {
                    throw refuse("The file has more than \(Limits.accessGroups - 1) groups.")
                }
                groups.append(value)
            default: throw refuse("The key is not `name`, `program` or `group`.")
            }
        }
        guard let name else { throw Malformation(line: 0, message: "The file has no `name`.") }
        guard !programs.isEmpty else { throw Malformation(line: 0, message: "The file has no `program`.") }
        guard !groups.containsBytes(of: name) else {
            throw Malformation(line: 0, message: "The file has its `name` as a `group`; it is one already.")
        }
        self.init(name: name, programs: programs, groups: groups)
    }
}

/// The declarations of all files of a folder, and what is wrong with files that were refused.
package struct AppDeclarations: Equatable, Sendable {
    /// A refused file.
    package struct Problem: Equatable, Sendable {
        /// The path of the file or folder.
        package let file: String
        /// The number of the line, from 1; 0 if the whole file is meant.
        package let line: Int
        package let message: String

        package init(file: String, line: Int = 0, message: String) {
            (self.file, self.line, self.message) = (file, line, message)
        }

        /// One line for people: `path:line: message`.
        package var description: String { line == 0 ? "\(file): \(message)" : "\(file):\(line): \(message)" }
    }

    /// The files that were refused; `latchkey doctor` shows them.
    package private(set) var problems: [Problem] = []
    private var ofProgram: [String: AppDeclaration] = [:]

    package init() {}

    /// A folder that was refused as a whole.
    package init(refused problem: Problem) { problems = [problem] }

    /// Parses files. Files that declare the same name or the same program are all refused, because the order of files
    /// must not decide which app a program is.
    ///
    /// - Parameters:
    ///   - files: paths and contents.
    ///   - problems: files that could not be read.
    package init(files: [(path: String, content: [UInt8])], problems: [Problem] = []) {
        self.problems = problems
        var parsed: [(path: String, app: AppDeclaration)] = []
        for file in files {
            do throws(AppDeclaration.Malformation) {
                parsed.append((file.path, try AppDeclaration(parsing: file.content)))
            } catch {
                self.problems.append(Problem(file: file.path, line: error.line, message: error.message))
            }
        }
        let names = Dictionary(grouping: parsed, by: \.app.name)
        let programs = Dictionary(
            grouping: parsed.flatMap { file in file.app.programs.map { (file.path, $0) } }, by: \.1)
        for (path, app) in parsed {
            // Each message names the other file, so that the person who corrects one finds both.
            if let other = names[app.name]?.first(where: { $0.path != path }) {
                self.problems.append(Problem(file: path, message: "\(other.path) declares the same name, \(app.name)."))
            } else if let shared = app.programs.first(where: { programs[$0, default: []].count > 1 }) {
                let other = programs[shared]?.first { $0.0 != path }?.0 ?? path
                self.problems.append(Problem(file: path, message: "\(other) declares the same program, \(shared)."))
            } else {
                for program in app.programs { ofProgram[program] = app }
            }
        }
    }

    /// Whether a valid file declares this name or group.
    package func declaresGroup(_ group: String) -> Bool {
        ofProgram.values.contains { $0.name.hasBytes(of: group) || $0.groups.containsBytes(of: group) }
    }

    /// The app that a program belongs to; nil if no file declares it.
    package func declaration(ofProgram path: String) -> AppDeclaration? { ofProgram[path] }
}
