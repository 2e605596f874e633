// SPDX-License-Identifier: Apache-2.0

/// The value `origins` of the configuration.
enum Origins {
    /// Reads a list of origins as browsers write them (RFC 6454, section 6.2): in lower case, without a path, and without the
    /// port that the scheme has anyway. They are compared byte by byte.
    static func read(_ text: String?) throws(Usage) -> Set<String> {
        var origins: Set<String> = []
        for part in text?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            let origin = part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            guard isOrigin(String(origin)) else {
                throw Usage(
                    "origins is not a list of origins with commas between them",
                    hint: "An origin is https:// and a name in lower case, without a path: https://example.com."
                        + " With http:// it is localhost.")
            }
            origins.insert(String(origin))
        }
        return origins
    }

    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts[1].hasPrefix("//") else { return false }
        let host = parts[1].dropFirst(2)
        let isHost = host.utf8.allSatisfy { byte in
            (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d || byte == 0x2e
        }
        guard isHost, !host.isEmpty else { return false }
        let standard: UInt16
        switch parts[0] {
        case "https": standard = 443
        // A browser treats it as secure: it does not leave the machine.
        case "http" where host == "localhost": standard = 80
        default: return false
        }
        guard parts.count == 3 else { return true }
        return UInt16(parts[2]).map { $0 > 0 && $0 != standard && String($0) == parts[2] } ?? false
    }
}
