// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// The compiler in `PATH`.
package struct CompilerFacts: Equatable, Sendable {
    /// Its path; nil if there is none.
    package var path: String?
    /// Its version, such as `Swift version 6.3 (swift-6.3-RELEASE)`; nil if it printed none in time.
    package var version: String?

    /// The first text of the form `Swift version …` in these lines.
    static func version(in lines: [String]) -> String? {
        for line in lines {
            guard let range = line.firstRange(of: "Swift version ") else { continue }
            var version = line[range.lowerBound...]
            while version.last?.isWhitespace == true { version.removeLast() }
            return String(version)
        }
        return nil
    }

    /// The version as it is in the name of the package `latchkey-sdk-6.3.1`.
    var release: String? {
        let digits = version?.dropFirst("Swift version ".count).prefix { $0.isNumber || $0 == "." }
        return digits.flatMap { $0.isEmpty ? nil : String($0) }
    }

    var numbers: (major: Int, minor: Int)? {
        guard let parts = release?.split(separator: "."), parts.count >= 2, let major = Int(parts[0]),
            let minor = Int(parts[1])
        else { return nil }
        return (major, minor)
    }
}

extension CompilerFacts {
    /// Looks for `swift` in the folders of `searchPath` and asks it.
    package init(searchPath: String?, seconds: Int64) {
        let folders = (searchPath ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        path = folders.map { $0 + "/swift" }.first { access($0, X_OK) == 0 }
        version = path.flatMap { ProgramOutput.lines($0, ["--version"], seconds: seconds) }.flatMap(Self.version(in:))
    }
}

extension DoctorRow.Hint {
    /// Replaces the SDK by one for this compiler: the package has the prefix `/usr`.
    fileprivate static func install(_ facts: SDKFacts, _ compiler: CompilerFacts) -> Self {
        if facts.prefix == "/usr", let release = compiler.release {
            return Self("apt install ./latchkey-sdk-\(release)_*.deb", needsRoot: true)
        }
        return Self("make install PREFIX=\(ShellWord.quoted(facts.prefix))")
    }
}

/// The SDK beside this program.
package struct SDKFacts: Equatable, Sendable {
    /// The prefix of the installation, such as `/usr`.
    package var prefix: String
    package var exists: Bool
    /// The version of the compiler that built it; nil if it does not say.
    package var compiler: String?

    var folder: String { prefix + "/lib/latchkey/sdk" }
}

extension SDKFacts {
    /// Reads the SDK of the installation with that prefix.
    package init(prefix: String) {
        self.init(prefix: prefix, exists: Files.exists(prefix + "/lib/latchkey/sdk"))
        let module = folder + "/Security.swiftmodule"
        guard let opened = try? Descriptor.open(module, O_RDONLY | O_DIRECTORY),
            let names = try? opened.names(limit: 64),
            let name = names.compactMap(\.text).first(where: { $0.hasSuffix(".swiftinterface") }),
            let bytes = try? Descriptor.open(module + "/" + name, O_RDONLY).readAll(limit: 16 << 20)
        else { return }
        let lines = String(decoding: bytes.prefix(4096), as: UTF8.self).split(separator: "\n").map(String.init)
        compiler = CompilerFacts.version(in: lines.filter { $0.hasPrefix("// swift-compiler-version: ") })
    }
}

extension DoctorRow {
    /// The compiler, which only authors of programs need.
    package static func compiler(_ facts: CompilerFacts) -> DoctorRow {
        let name = "compiler"
        guard let path = facts.path else { return DoctorRow(name, .absent, "swift is not in PATH") }
        guard let version = facts.version, let numbers = facts.numbers else {
            return DoctorRow(name, .attention, "\(path) does not print its version", .init("swiftly install latest"))
        }
        guard numbers >= (6, 2) else {
            return DoctorRow(
                name, .attention, "\(path) is \(version); Latchkey needs Swift 6.2", .init("swiftly install latest"))
        }
        return DoctorRow(name, .ok, "\(path), \(version)")
    }

    /// The SDK, which is valid for the compiler that built it only.
    package static func sdk(_ facts: SDKFacts, _ compiler: CompilerFacts) -> DoctorRow {
        let name = "SDK"
        let install = Hint.install(facts, compiler)
        guard facts.exists else { return DoctorRow(name, .absent, "\(facts.folder) does not exist", .install) }
        guard let built = facts.compiler else {
            return DoctorRow(name, .attention, "\(facts.folder) does not name its compiler", install)
        }
        if let version = compiler.version, version != built {
            return DoctorRow(
                name, .attention, "\(facts.folder) was built by \(built), which swift in PATH is not", install)
        }
        return DoctorRow(name, .ok, "\(facts.folder), built by \(built)")
    }
}
