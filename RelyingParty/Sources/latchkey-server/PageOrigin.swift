// SPDX-License-Identifier: Apache-2.0

/// The origins of pages in the configuration, in the form in which browsers write them (RFC 6454, section 6.2), and the name of
/// the relying party to which they belong.
enum PageOrigin {
    /// Refuses a name and origins with which no browser uses a passkey: the name is a domain, and the host of each origin is
    /// that domain or below it (WebAuthn Level 3, section 5.1.2).
    ///
    /// - Parameter origins: origins in the form of a browser.
    static func require(_ origins: Set<String>, of relyingPartyID: String) throws(Usage) {
        guard isDomain(relyingPartyID) else {
            throw Usage(
                "relying_party_id is not a domain in lower case, which passkeys and the administration need",
                hint: "Write example.com, or localhost for tests: no capitals, scheme, port, path, address or umlauts.")
        }
        let below = ("." + relyingPartyID).utf8
        for origin in origins.sorted() {
            guard let host = host(origin)?.utf8,
                host.elementsEqual(relyingPartyID.utf8) || host.suffix(below.count).elementsEqual(below)
            else { throw Usage("origins has \(origin), whose host is neither relying_party_id nor below it") }
        }
    }

    /// Whether a text is a domain as browsers compare it: labels of lower-case letters, digits and hyphens. A last label that is
    /// a number would make it an IPv4 address (URL Standard, section 3.5), and those have no passkeys.
    static func isDomain(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let hyphen = UInt8(ascii: "-")
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
                    && label.allSatisfy { isDigit($0) || (0x61...0x7a).contains($0) || $0 == hyphen }
            } && labels.last.map { $0.allSatisfy(isDigit) || $0.starts(with: "0x".utf8) } == false
    }

    private static func host(_ origin: String) -> Substring? {
        origin.split(separator: "/").last?.split(separator: ":").first
    }

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
        guard let host = authority.first, authority.count <= 2, isDomain(String(host)), isSecure || host == "localhost"
        else { return false }
        guard authority.count == 2 else { return true }
        guard let port = UInt16(authority[1]), String(port) == authority[1] else { return false }
        return port > 0 && port != (isSecure ? 443 : 80)
    }
}
