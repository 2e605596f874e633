// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Variables that load foreign code are found in an environment, however it is cut and however many entries it has.
@Suite struct CodeVariablesTests {
    private func hasFound(_ environment: String, pieces: Int = 1 << 16) -> Bool {
        var scan = CodeVariables.Scan()
        let bytes = Array(environment.utf8)
        bytes.withUnsafeBytes { memory in
            for start in stride(from: 0, to: memory.count, by: pieces) {
                scan.take(UnsafeRawBufferPointer(rebasing: memory[start..<min(start + pieces, memory.count)]))
            }
        }
        scan.end()
        return scan.hasFound
    }

    @Test(arguments: [
        "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_NEW", "LD_", "GTK_MODULES", "GTK3_MODULES", "QT_PLUGIN_PATH",
        "GIO_EXTRA_MODULES", "PYTHONPATH", "ELECTRON_RUN_AS_NODE", "JAVA_TOOL_OPTIONS", "OPENSSL_CONF", "GCONV_PATH",
        "GST_REGISTRY", "GI_TYPELIB_PATH", "VK_IMPLICIT_LAYER_PATH", "VK_ADD_IMPLICIT_LAYER_PATH",
        "WEBKIT_INJECTED_BUNDLE_PATH", "SPA_PLUGIN_DIR", "PIPEWIRE_MODULE_DIR", "LUA_PATH_5_4",
        "__EGL_EXTERNAL_PLATFORM_CONFIG_FILENAMES", "LD_" + String(repeating: "A", count: 100),
    ])
    func eachIsFoundInEveryPlaceAndHoweverTheBytesArrive(name: String) {
        #expect(CodeVariables.contains(name))
        for environment in [
            "\(name)=x\0", "HOME=/\0\(name)=\0A=1\0", "A=1\0\(name)=LD_\0", "A=\0\0\(name)", "\(name)\0B=1\0",
        ] {
            for pieces in [1, 2, 3, 5, 1 << 16] { #expect(hasFound(environment, pieces: pieces), "\(environment)") }
        }
    }

    @Test(arguments: [
        "", "\0", "HOME=/LD_PRELOAD=x\0", "XLD_PRELOAD=1\0", "PATH=/x:LD_PRELOAD=x\0", "A=\0=LD_PRELOAD\0", "LD=1\0",
        "ld_preload=1\0", "GTK_MODULE=1\0", "GTK_MODULESX=1\0", "LUA_PATH_=1\0", "\u{e4}LD_X=1\0",
        "A" + String(repeating: "LD_", count: 100) + "=1\0",
    ])
    func othersAreNotFound(environment: String) {
        for pieces in [1, 2, 3, 1 << 16] { #expect(!hasFound(environment, pieces: pieces)) }
    }

    /// The same answer as a simple reading gives, for made-up environments.
    @Test func theScanAgreesWithASimpleReading() {
        var generator = SeededGenerator(seed: 34)
        let words = ["LD_", "LD", "L", "GTK_MODULES", "GTK", "=", "=", "\0", "\0", "A", "PYTHONPATH", "HOME", "_"]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0..<12, using: &generator))
                .map { _ in words[Int.random(in: 0..<words.count, using: &generator)] }.joined()
            let simple = text.split(separator: "\0").contains { entry in
                let name = entry.prefix { $0 != "=" }
                return CodeVariables.contains(String(name))
            }
            #expect(
                hasFound(text, pieces: Int.random(in: 1..<9, using: &generator)) == simple, "\(text.debugDescription)")
        }
    }

    // MARK: - Real environments

    /// A program with an environment of a million bytes in entries of this many bytes.
    private func identity(entryBytes: Int, bytes: Int = 1_000_000) throws -> (ProgramIdentity, milliseconds: Double) {
        let entry = "a" + (entryBytes > 2 ? "=" + String(repeating: "b", count: entryBytes - 3) : "")
        // The kernel allows so many entries only with a large stack, which the program itself chooses.
        let script = """
            import ctypes, resource, sys
            resource.setrlimit(resource.RLIMIT_STACK, (-1, -1))
            count, entry = int(sys.argv[1]), sys.argv[2].encode()
            environment = (ctypes.c_char_p * (count + 1))(*[entry] * count, None)
            ctypes.CDLL(None).execve(b"/usr/bin/cat", (ctypes.c_char_p * 2)(b"cat", None), environment)
            """
        let child = try Child("/usr/bin/python3", ["-c", script, "\(bytes / entryBytes)", entry])
        try child.awaitEcho()
        var (identity, best) = (try child.identity(), Double.infinity)
        for _ in 0..<5 {
            let begin = Uptime.nanoseconds
            identity = try child.identity()
            best = min(best, Double(Uptime.nanoseconds - begin) / 1e6)
        }
        return (identity, best)
    }

    @Test(.promise("identity.environment"), .needs(.protectedPrograms))
    func anEnvironmentOfManyEntriesCostsAboutAReadOfItsBytes() throws {
        let (few, fast) = try identity(entryBytes: 100_000)
        let (many, slow) = try identity(entryBytes: 2)
        #expect(few.strength == .program && many.strength == .program)
        print("1 MB in 10 entries: \(fast) ms; in 500,000 entries: \(slow) ms")
        // 53 ms in a release build before; this build is not optimised.
        #expect(slow < 1000)
    }

    @Test(.needs(.protectedPrograms)) func aLongerEnvironmentIsNotExaminedAndGivesNoPath() throws {
        let (identity, _) = try identity(entryBytes: 100_000, bytes: (1 << 20) + 200_000)
        #expect(identity.groups == ["user:\(getuid())"])
    }
}
