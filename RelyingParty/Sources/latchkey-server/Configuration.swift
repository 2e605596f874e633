// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import SignInVerification

/// The configuration: lines `name = value`. Unknown and repeated names are errors, because a misspelled limit would
/// have no effect.
struct Configuration {
    let relyingPartyID: String
    /// A port of 127.0.0.1 for metrics; nil for none, 0 for any. Not the port of the requests, which a proxy makes public.
    let metricsPort: UInt16?
    /// The address to listen on; 127.0.0.1 without TLS, which would show tokens to the network.
    let address: ListeningAddress
    /// A port of the address; 0 for any.
    let port: UInt16
    /// The files of the certificate and its private key; nil for no TLS.
    let tls: (certificate: String, keyFile: String)?
    /// How long browsers use nothing but TLS with this name; 0 for no header that says so.
    let hstsSeconds: Int64
    let limits: ServerLimits
    let storage: StorageChoice
    let secretFile: String
    /// The secret that is being replaced: challenges that it issued are still accepted.
    let previousSecretFile: String?
    let minimumTier: DeclaredTier
    /// Certificates in PEM under which TPMs are accepted; nil if proofs of TPMs are refused.
    let endorsementRoots: String?
    /// Whether a virtual TPM, whose keys the owner of its machine can copy, counts as one.
    let permitsVirtualTPM: Bool
    /// Whether passkeys can be registered and used.
    let permitsPasskeys: Bool
    /// The origins of the pages that may use passkeys and of the administration; nil for the one of the relying party.
    let origins: Set<String>?
    /// A file to which revocations are appended; nil for none.
    let revocationsFile: String?
    let challengeSeconds: Int64
    /// The life of challenges for the registration of a passkey and for a sign-in with one.
    let passkeySeconds: Int64
    /// What a counter that is not higher than the one before means.
    let counters: CounterPolicy
    let sessionIdleSeconds: Int64
    let sessionSeconds: Int64
    /// Whether the page of the administration is served.
    let servesAdministration: Bool
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
            try Self.number(values, name, range, standard)
        }
        relyingPartyID = try required("relying_party_id")
        guard (1...253).contains(relyingPartyID.utf8.count) else { throw Usage("relying_party_id is too long") }
        switch (values["tls_certificate"], values["tls_key_file"]) {
        case (let certificate?, let keyFile?): tls = (certificate, keyFile)
        case (nil, nil): tls = nil
        default: throw Usage("tls_certificate and tls_key_file are both needed for TLS, and one of them is missing")
        }
        address = try ListeningAddress(values["address"] ?? "127.0.0.1")
        guard tls != nil || address == .loopback else {
            throw Usage(
                "without TLS the server listens on 127.0.0.1 only",
                hint: "Set tls_certificate and tls_key_file, or remove address and use a proxy on this machine.")
        }
        guard tls != nil || values["connections_per_client"] == nil else {
            throw Usage("connections_per_client needs TLS: otherwise every connection is one of a proxy")
        }
        // Only a response over TLS may have the header (RFC 6797, section 7.2); without TLS it is one of the proxy.
        guard tls != nil || values["hsts_seconds"] == nil else { throw Usage("hsts_seconds needs TLS") }
        hstsSeconds = tls == nil ? 0 : try number("hsts_seconds", 0...63_072_000, 31_536_000)
        storage = try StorageChoice(values)
        limits = ServerLimits(
            connections: values["connections"] == nil ? nil : try number("connections", 10...100_000, 0),
            connectionsPerClient: try number("connections_per_client", 1...100_000, 200),
            threads: try number("threads", 1...64, storage.threads))
        port = UInt16(clamping: try number("port", 0...65535, 8440))
        metricsPort =
            values["metrics_port"] == nil ? nil : UInt16(clamping: try number("metrics_port", 0...65535, 0))
        secretFile = try required("secret_file")
        previousSecretFile = values["previous_secret_file"]
        guard let tier = DeclaredTier(rawValue: values["minimum_tier"] ?? "user") else {
            throw Usage("minimum_tier is not simulated, user, file or tpm")
        }
        minimumTier = tier
        endorsementRoots = values["ek_roots"]
        // A declared tier proves nothing: without roots, no key could ever be registered.
        guard tier != .tpm || endorsementRoots != nil else {
            throw Usage("minimum_tier = tpm needs ek_roots, the certificates of the makers whose TPMs are accepted")
        }
        switch values["virtual_tpm"] ?? "refuse" {
        case "refuse": permitsVirtualTPM = false
        case "allow": permitsVirtualTPM = true
        default: throw Usage("virtual_tpm is not refuse or allow")
        }
        switch values["passkeys"] ?? "refuse" {
        case "refuse": permitsPasskeys = false
        case "allow": permitsPasskeys = true
        default: throw Usage("passkeys is not refuse or allow")
        }
        origins = try values["origins"].map { text throws(Usage) in try PageOrigin.list(text) }
        revocationsFile = values["revocations_file"]
        guard revocationsFile?.hasPrefix("/") ?? true else { throw Usage("revocations_file is not an absolute path") }
        challengeSeconds = try number("challenge_seconds", 1...600, 60)
        passkeySeconds = try number("passkey_seconds", 1...600, 300)
        guard let counters = CounterPolicy(rawValue: values["counters"] ?? "tolerant") else {
            throw Usage("counters is not tolerant or strict")
        }
        self.counters = counters
        sessionIdleSeconds = try number("session_idle_seconds", 1...86400, 900)
        sessionSeconds = try number("session_seconds", 1...2_592_000, 43200)
        switch values["administration"] ?? "off" {
        case "off": servesAdministration = false
        case "on": servesAdministration = true
        default: throw Usage("administration is not on or off")
        }
        if permitsPasskeys || servesAdministration {
            try PageOrigin.require(origins ?? ["https://" + relyingPartyID], of: relyingPartyID)
        }
        trustedProxies = try Self.proxies(values["trusted_proxies"], isSecure: tls != nil)
    }

    private static let names: Set<String> = [
        "relying_party_id", "port", "database", "secret_file", "previous_secret_file", "minimum_tier",
        "challenge_seconds", "passkey_seconds", "counters", "session_idle_seconds", "session_seconds",
        "trusted_proxies",
        "metrics_port", "postgresql", "postgresql_connections", "node", "address", "tls_certificate", "tls_key_file",
        "connections", "connections_per_client", "threads", "ek_roots", "virtual_tpm", "revocations_file",
        "administration", "passkeys", "origins", "hsts_seconds",
    ]

    /// Headers of each response. Without `includeSubDomains`: other hosts below the name may have no TLS.
    var headers: [(name: String, value: String)] {
        hstsSeconds > 0 ? [("Strict-Transport-Security", "max-age=\(hstsSeconds)")] : []
    }

    /// A number in a range, or the standard one if there is none.
    static func number(
        _ values: [String: String], _ name: String, _ range: ClosedRange<Int64>, _ standard: Int64
    ) throws(Usage) -> Int64 {
        guard let text = values[name] else { return standard }
        guard let number = Int64(text), range.contains(number) else {
            throw Usage("\(name) is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func proxies(_ text: String?, isSecure: Bool) throws(Usage) -> Set<ClientAddress> {
        guard let text else { return [] }
        var addresses: Set<ClientAddress> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let address = ClientAddress(trimmed(part)) else {
                throw Usage("trusted_proxies is not a list of addresses with commas between them")
            }
            addresses.insert(address)
        }
        // Otherwise the header would never be read, and all clients would be one.
        guard isSecure || addresses.contains(.loopback) else {
            throw Usage("trusted_proxies does not contain 127.0.0.1, from where the proxy on this machine connects")
        }
        return addresses
    }

    static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
