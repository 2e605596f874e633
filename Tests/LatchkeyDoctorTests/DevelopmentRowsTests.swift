// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct DevelopmentRowsTests {
    private static let version = "Swift version 6.3.1 (swift-6.3.1-RELEASE)"
    private let machine: TemporaryMachine

    init() throws { machine = try TemporaryMachine() }

    /// Installs a program that prints a version like the compiler.
    private func install(_ version: String) throws -> CompilerFacts {
        try machine.write("/bin/swift", "#!/bin/sh\necho 'swift-driver version: 1'\necho '\(version)'\n", mode: 0o755)
        return CompilerFacts(searchPath: "relative:/none:\(machine.root)/bin", seconds: 20)
    }

    private func sdk(_ header: String) throws -> SDKFacts {
        try machine.write(
            "/lib/latchkey/sdk/Security.swiftmodule/x86_64.swiftinterface",
            "// swift-interface-format-version: 1.0\n\(header)\nimport Foundation\n")
        return SDKFacts(prefix: machine.root)
    }

    @Test func compilerIsFoundAndAsked() throws {
        #expect(DoctorRow.compiler(CompilerFacts(searchPath: "/none", seconds: 1)).state == .absent)
        #expect(DoctorRow.compiler(CompilerFacts(searchPath: nil, seconds: 1)).state == .absent)
        let facts = try install(Self.version)
        #expect(facts.version == Self.version)
        #expect(DoctorRow.compiler(facts).state == .ok)
    }

    @Test func oldOrSilentCompilerNeedsAttention() throws {
        let old = DoctorRow.compiler(try install("Swift version 6.1 (swift-6.1-RELEASE)"))
        #expect(old.state == .attention && old.found.contains("needs Swift 6.2"))
        #expect(DoctorRow.compiler(try install("Swift version 6.2-dev (LLVM 1)")).state == .ok)
        #expect(DoctorRow.compiler(try install("Swift version 10.0")).state == .ok)
        #expect(DoctorRow.compiler(try install("nothing")).state == .attention)
    }

    /// `swiftly`, which downloads a compiler, is a program of the test.
    @Test(arguments: ["nothing", "Swift version 6.1 (swift-6.1-RELEASE)"])
    func oldOrSilentCompilerIsReplacedByThePrintedCommand(version: String) throws {
        let row = DoctorRow.compiler(try install(version))
        let new = try machine.write("/new", "#!/bin/sh\necho '\(Self.version)'\n", mode: 0o755)
        let installs = "[ \"$*\" = 'install latest' ] && cp \(new) \(machine.root)/bin/swift"
        try machine.write("/bin/swiftly", "#!/bin/sh\n\(installs)\n", mode: 0o755)
        try row.mend(["PATH=\(machine.root)/bin:/usr/bin:/bin"])
        #expect(DoctorRow.compiler(CompilerFacts(searchPath: "\(machine.root)/bin", seconds: 20)).state == .ok)
    }

    @Test func sdkIsValidForItsCompilerOnly() throws {
        let compiler = CompilerFacts(path: "/bin/swift", version: Self.version)
        let missing = DoctorRow.sdk(SDKFacts(prefix: machine.root), compiler)
        #expect(missing.state == .absent && missing.hint?.command == "make install PREFIX=~/.local")
        let right = try sdk("// swift-compiler-version: \(Self.version)")
        #expect(DoctorRow.sdk(right, compiler).state == .ok)
        #expect(DoctorRow.sdk(right, CompilerFacts()).state == .ok)
        let other = CompilerFacts(path: "/bin/swift", version: "Swift version 6.2 (swift-6.2-RELEASE)")
        let row = DoctorRow.sdk(right, other)
        #expect(row.state == .attention && row.hint?.command == "make install PREFIX=\(machine.root)")
        #expect(DoctorRow.sdk(try sdk("// no version"), compiler).state == .attention)
    }

    @Test func anSDKOfThePackageIsReplacedByThePackageForTheCompilerInPath() {
        let packaged = SDKFacts(prefix: "/usr", exists: true, compiler: "Swift version 6.2 (swift-6.2-RELEASE)")
        let row = DoctorRow.sdk(
            packaged, CompilerFacts(path: "/bin/swift", version: "Swift version 6.3.1 (swift-6.3.1-RELEASE)"))
        #expect(row.state == .attention && row.found.contains("was built by Swift version 6.2 "))
        #expect(row.hint == .init("apt install ./latchkey-sdk-6.3.1_*.deb", needsRoot: true))
    }
}
