// SPDX-License-Identifier: Apache-2.0

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
