// SPDX-License-Identifier: Apache-2.0

/// Values of the configuration in the environment of the process.
enum Surroundings {
    private static let prefix = "LATCHKEY_SERVER_"

    /// The values by their names in the configuration: `LATCHKEY_SERVER_PORT` is `port`. `Configuration` refuses a name
    /// that it does not know.
    static func values() throws(Usage) -> [(name: String, value: String)] {
        // The kernel's copy, because the C library has no way to list variables that is safe with threads.
        try Files.read("/proc/self/environ").split(separator: 0).compactMap { entry in
            let text = String(decoding: entry, as: UTF8.self)
            guard text.hasPrefix(prefix), let sign = text.firstIndex(of: "=") else { return nil }
            let name = text[text.index(text.startIndex, offsetBy: prefix.count)..<sign]
            return (name.lowercased(), String(text[text.index(after: sign)...]))
        }
    }
}
