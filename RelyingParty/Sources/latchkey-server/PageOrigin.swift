// SPDX-License-Identifier: Apache-2.0

/// The origins of pages in the configuration, in the form in which browsers write them (RFC 6454, section 6.2).
enum PageOrigin {
    /// Reads a list with commas. Only `https` counts, and `http` for `localhost`, as for browsers.
    static func list(_ text: String) throws(Usage) -> Set<String> {
        var origins: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let origin = Configuration.trimmed(part)
            guard isOrigin(origin) else {
                throw Usage(
                    "origins is not a list of origins with commas between them",
                    hint: "Write https://example.com, or http://localhost:8000 for tests, without a path.")
            }
            origins.insert(origin)
        }
        return origins
    }

    /// Whether a text is exactly what a browser would send: lower case, no path, and no port that the scheme has anyway.
    private static func isOrigin(_ text: String) -> Bool {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return false }
        let authority = text.dropFirst(isSecure ? 8 : 7).split(separator: ":", omittingEmptySubsequences: false)
        guard let host = authority.first, authority.count <= 2, !host.isEmpty, host.utf8.count <= 253,
            host.allSatisfy({ $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-" || $0 == ".") }),
            isSecure || host == "localhost"
        else { return false }
        guard authority.count == 2 else { return true }
        guard let port = UInt16(authority[1]), String(port) == authority[1] else { return false }
        return port > 0 && port != (isSecure ? 443 : 80)
    }
}
