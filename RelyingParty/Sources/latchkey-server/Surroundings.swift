// SPDX-License-Identifier: Apache-2.0

/// Values of the configuration in the environment of the process.
enum Surroundings {
    private static let prefix = "LATCHKEY_SERVER_"

    /// The values by their names in the configuration: `LATCHKEY_SERVER_PORT` is `port`. `Configuration` refuses a name
    /// that it does not know.
    static func values() throws(Usage) -> [(name: String, value: String)] {
        // The kernel's copy, because the C library has no way to list variables that is safe with threads.
        var values: [(name: String, value: String)] = []
        for entry in try Files.read("/proc/self/environ").split(separator: 0) {
            guard entry.starts(with: prefix.utf8) else { continue }
            let parts = entry.dropFirst(prefix.utf8.count).split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            // Only letters of ASCII: the Kelvin sign is no K.
            let lower = parts[0].map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
            guard parts.count == 2, let name = String(validating: lower, as: UTF8.self),
                let value = String(validating: parts[1], as: UTF8.self)
            else { throw Usage("the environment has a variable \(prefix)... that is not valid UTF-8") }
            values.append((name, value))
        }
        return values
    }
}
