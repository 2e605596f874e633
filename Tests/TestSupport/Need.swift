// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Testing

/// A requirement of a test that not every machine fulfils.
package struct Need: Sendable {
    /// The rest of a sentence that begins with "needs".
    let description: String
    package let isMet: @Sendable () -> Bool

    /// Creates a requirement; `description` is the rest of a sentence that begins with "needs".
    package init(_ description: String, isMet: @escaping @Sendable () -> Bool) {
        self.description = description
        self.isMet = isMet
    }

    /// Permission to read the memory of any process: a process with `PR_SET_DUMPABLE` 0 cannot be read by its own
    /// user, only by root.
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
    /// Skips a test of a security property on a machine that cannot run it, and states the reason. With `CI=true`,
    /// the test fails instead, so that an untested property is never reported as tested.
    ///
    ///     @Suite(.needs(.otherMemory)) struct KeyMemoryTests { ... }
    ///
    /// Security tests must be skipped only with this trait: a `return` in the body of a test would report success.
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
