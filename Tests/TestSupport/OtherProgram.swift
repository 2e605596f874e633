// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Testing

/// Runs other implementations of the same standards, such as `openssl`, in a temporary folder.
package final class OtherProgram: Sendable {
    private let folder: TemporaryFolder

    /// Creates the folder.
    package init() throws { folder = try TemporaryFolder() }

    private func file(_ name: String) -> URL { URL(filePath: folder.path).appending(component: name) }

    /// Writes a file of the folder.
    package func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

    /// Writes a file of the folder with mode 0600, which `ssh-keygen` requires.
    package func write(_ name: String, _ data: Data) throws {
        let path = file(name).path
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: data, attributes: [.posixPermissions: 0o600])
        try #require(isWritten, "\(name) was not written")
    }

    /// Reads a file of the folder.
    package func read(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }

    /// Reads a file of the folder as text.
    package func text(_ name: String) throws -> String { try String(contentsOf: file(name), encoding: .utf8) }

    /// Runs a program in the folder and returns its standard output; fails unless its exit status is 0.
    @discardableResult
    package func run(_ arguments: String...) throws -> Data { try output(arguments) }

    /// Runs a program in the folder and returns its standard output; fails unless its exit status is 0.
    package func output(_ arguments: [String]) throws -> Data {
        let (isContent, bytes) = try end(arguments)
        try #require(isContent, "\(arguments.joined(separator: " "))")
        return bytes
    }

    /// Runs a program in the folder and returns whether its exit status was 0, and its standard output.
    package func end(_ arguments: [String]) throws -> (isContent: Bool, output: Data) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus != 127, "the command \(arguments.first ?? "") is not installed")
        return (process.terminationStatus == 0, bytes)
    }
}
