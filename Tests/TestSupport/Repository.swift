// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The files of the project that tests read.
package enum Repository {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folder of a fuzzer's corpus.
    private static func corpus(_ fuzzer: String) -> URL {
        root.appending(components: "Tests", "Fuzz", "corpus", fuzzer)
    }

    /// The inputs of a fuzzer's corpus, by name.
    package static func inputs(_ fuzzer: String) throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(at: corpus(fuzzer), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }.map { ($0.lastPathComponent, try Array(Data(contentsOf: $0))) }
    }

    /// One input of a fuzzer's corpus.
    package static func input(_ name: String, of fuzzer: String) throws -> [UInt8] {
        try Array(Data(contentsOf: corpus(fuzzer).appending(component: name)))
    }

    /// A table of `Tests/Vectors`.
    package static func vectors(_ file: String...) -> URL {
        file.reduce(root.appending(components: "Tests", "Vectors")) { $0.appending(component: $1) }
    }

    /// A page of `docs`, by its folder and name.
    package static func document(_ path: String...) -> URL {
        path.reduce(root.appending(component: "docs")) { $0.appending(component: $1) }
    }

    /// The path of a script.
    package static func script(_ name: String) -> String { root.appending(components: "scripts", name).path }

    /// The folder of a module's sources.
    package static func sources(of module: String) throws -> URL {
        let sources = root.appending(component: "Sources")
        let groups = try FileManager.default.contentsOfDirectory(atPath: sources.path)
        let folders = groups.map { sources.appending(components: $0, module) }
        guard let folder = folders.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: module])
        }
        return folder
    }

    /// Options of the compiler and its tools to find the modules that were built with the running tests.
    package static var moduleOptions: [String] {
        var options = BuiltProducts.moduleFolders.flatMap { ["-I", $0] }
        for module in ["CLatchkeyLinux", "COpenSSL"] {
            options += ["-Xcc", "-fmodule-map-file=\(root.path)/Sources/Drivers/\(module)/module.modulemap"]
        }
        return options
    }

    /// Type-checks a file against the modules that were built with the running tests; returns the compiler's status and
    /// output.
    package static func typecheck(_ file: URL, options: [String]) throws -> (status: Int32, words: String) {
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["swiftc", "-typecheck", file.path] + options + moduleOptions
        let output = Pipe()
        compiler.standardError = output
        compiler.standardOutput = output
        try compiler.run()
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        compiler.waitUntilExit()
        return (compiler.terminationStatus, words)
    }
}
