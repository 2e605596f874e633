// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Testing

/// What a test needs of the machine that not every machine has.
package struct Need: Sendable {
    /// Reads as the end of "needs ...".
    let description: String
    package let isMet: @Sendable () -> Bool

    /// A need of one test target; `description` reads as the end of "needs ...".
    package init(_ description: String, isMet: @escaping @Sendable () -> Bool) {
        self.description = description
        self.isMet = isMet
    }

    /// The right to read the memory of any process: a process that protects itself (`PR_SET_DUMPABLE` 0) is closed to its
    /// own user, so that its memory is searched by root alone.
    package static let otherMemory = Need("CAP_SYS_PTRACE, to read the memory of other processes: run it as root") {
        hasCapability(19)
    }

    /// Root, to run a program as another user.
    package static let root = Need("root, to run programs as other users") {
        geteuid() == 0 && hasCapability(6) && hasCapability(7)
    }

    private static func hasCapability(_ number: Int) -> Bool {
        guard let file = fopen("/proc/self/status", "re") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("CapEff:") else { continue }
            let effective = text.drop { $0 != "\t" }.filter(\.isHexDigit)
            return (UInt64(effective, radix: 16) ?? 0) >> UInt64(number) & 1 == 1
        }
        return false
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test of a security property where the machine cannot run it, with the reason; with `CI=true` such a test
    /// fails instead, so that a property that is not looked at is never reported as held.
    ///
    ///     @Suite(.needs(.otherMemory)) struct KeyMemoryTests { ... }
    ///
    /// Every skip of a security test goes through this trait: a `return` in the test's body reports success.
    package static func needs(_ need: Need) -> Self {
        .enabled("needs \(need.description)") {
            if need.isMet() { return true }
            if isContinuousIntegration { throw UnmetNeed(description: "CI=true, and this needs \(need.description)") }
            return false
        }
    }

    private static var isContinuousIntegration: Bool { getenv("CI").map { String(cString: $0) } == "true" }
}

private struct UnmetNeed: Error, CustomStringConvertible {
    let description: String
}
