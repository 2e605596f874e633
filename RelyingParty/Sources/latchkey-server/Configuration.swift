// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI

/// A message for the operator, and nothing else.
struct Usage: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The configuration: lines `name = value`. Unknown and repeated names are errors, because a misspelled limit would
/// have no effect.
struct Configuration {
    let relyingPartyID: String
    /// A port of 127.0.0.1 for metrics; nil for none, 0 for any. Not the port of the requests, which a proxy makes public.
    let metricsPort: UInt16?
    /// A port of 127.0.0.1; 0 for any. The server has no TLS, so it listens on no other address.
    let port: UInt16
    let database: String
    let secretFile: String
    /// The secret that is being replaced: challenges that it issued are still accepted.
    let previousSecretFile: String?
    let minimumTier: DeclaredTier
    let challengeSeconds: Int64
    let sessionIdleSeconds: Int64
    let sessionSeconds: Int64
    /// The proxies whose header `X-Forwarded-For` names the clients; empty if there is none.
    let trustedProxies: Set<ClientAddress>

    /// - Parameters:
    ///   - text: the text of the file.
    ///   - surroundings: values that replace those of the file.
    init(_ text: String, _ surroundings: [(name: String, value: String)]) throws(Usage) {
        var values: [String: String] = [:]
        // By scalars: with a carriage return, the end of a line is one character, and the next line would vanish.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (offset, scalars) in lines.enumerated() {
            let isText = scalars.allSatisfy { scalar in
                scalar == "\t"
                    || ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
            }
            guard isText else {
                throw Usage(
                    "line \(offset + 1) of the configuration has a control character; lines end with a line feed only")
            }
            let line = Self.trimmed(Substring(scalars))
            if line.isEmpty || line.hasPrefix("#") { continue }
            let parts = line.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard parts.count == 2, Self.names.contains(parts[0]), !parts[1].isEmpty else {
                throw Usage("line \(offset + 1) of the configuration is not a known name, = and a value")
            }
            guard values.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw Usage("the configuration has \(parts[0]) twice")
            }
        }
        for (name, value) in surroundings {
            guard Self.names.contains(name), !value.isEmpty else {
                throw Usage("the environment has a variable for \(name), which is not a known name with a value")
            }
            values[name] = value
        }
        func required(_ name: String) throws(Usage) -> String {
            guard let value = values[name] else { throw Usage("the configuration has no \(name)") }
            return value
        }
        func number(_ name: String, _ range: ClosedRange<Int64>, _ standard: Int64) throws(Usage) -> Int64 {
            guard let text = values[name] else { return standard }
            guard let number = Int64(text), range.contains(number) else {
                throw Usage("\(name) is not a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        relyingPartyID = try required("relying_party_id")
        guard (1...253).contains(relyingPartyID.utf8.count) else { throw Usage("relying_party_id is too long") }
        port = UInt16(clamping: try number("port", 0...65535, 8440))
        metricsPort =
            values["metrics_port"] == nil ? nil : UInt16(clamping: try number("metrics_port", 0...65535, 0))
        database = try required("database")
        // SQLite would take another text as the name of a database in memory, or relative to a folder.
        guard database.hasPrefix("/") else { throw Usage("database is not an absolute path") }
        secretFile = try required("secret_file")
        previousSecretFile = values["previous_secret_file"]
        // A declared tier proves nothing, and without proofs of a TPM `tpm` must not look as if it did.
        guard let tier = DeclaredTier(rawValue: values["minimum_tier"] ?? "user"), tier != .tpm else {
            throw Usage("minimum_tier is not simulated, user or file; tpm cannot be proven by this version")
        }
        minimumTier = tier
        challengeSeconds = try number("challenge_seconds", 1...600, 60)
        sessionIdleSeconds = try number("session_idle_seconds", 1...86400, 900)
        sessionSeconds = try number("session_seconds", 1...2_592_000, 43200)
        trustedProxies = try Self.proxies(values["trusted_proxies"])
    }

    private static let names: Set<String> = [
        "relying_party_id", "port", "database", "secret_file", "previous_secret_file", "minimum_tier",
        "challenge_seconds", "session_idle_seconds", "session_seconds", "trusted_proxies",
        "metrics_port",
    ]

    private static func proxies(_ text: String?) throws(Usage) -> Set<ClientAddress> {
        guard let text else { return [] }
        var addresses: Set<ClientAddress> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let address = ClientAddress(trimmed(part)) else {
                throw Usage("trusted_proxies is not a list of addresses with commas between them")
            }
            addresses.insert(address)
        }
        // Otherwise the header would never be read, and no limit would hold.
        guard addresses.contains(.loopback) else {
            throw Usage("trusted_proxies does not contain 127.0.0.1, from where the proxy on this machine connects")
        }
        return addresses
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
