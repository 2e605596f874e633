// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Synchronization
import Testing

/// Certificates and PKCS#12 files, generated with the `openssl` command once per test process.
final class TestCertificates: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Self-signed, RSA of 2,048 bits, printable strings with irregular spaces and mixed case, a serial number with
        /// its first bit set.
        case rsa
        /// Self-signed, P-256, UTF-8 strings with accents and e-mail addresses in both places.
        case ellipticCurve
        /// A root, P-384.
        case root
        /// Issued by `root`.
        case intermediate
        /// Issued by `intermediate`.
        case leaf
        /// No common name, three organisational units.
        case units
        /// Only an organisation.
        case organization
        /// Only a country and a town.
        case place
        /// An empty subject, one e-mail address and a host.
        case nameless
        /// A common name and a description.
        case described
        /// Valid from 1949 to 9999.
        case centuries
        /// Valid from 1950-01-01 to 2049-12-31, the ends of UTCTime.
        case utcTime
    }

    private static let made = Result { try TestCertificates() }

    /// The shared files; throws the error of their generation.
    static func shared() throws -> TestCertificates { try made.get() }

    private let openssl: OpenSSLCommand
    private let bytes: Mutex<[Kind: Data]> = Mutex([:])

    private init() throws {
        openssl = try OpenSSLCommand()
        try write(Data(Self.configuration.utf8), "openssl.cnf")
        try write(Data(), "index.txt")
        try key("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
        for kind in Kind.allCases where kind != .rsa {
            let curve = kind == .root ? "P-384" : "P-256"
            try key(kind.rawValue, ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)"])
        }
        try sign(.rsa, section: "printable", more: ["-set_serial", "0x80aabbccddeeff0011"])
        try sign(.ellipticCurve, section: "accents", extensions: "addresses")
        try sign(.root, section: "root", extensions: "authority")
        try issue(.intermediate, section: "intermediate", by: .root, extensions: "authority")
        try issue(.leaf, section: "leaf", by: .intermediate, extensions: "end")
        try sign(.units, section: "units")
        try sign(.organization, section: "organization")
        try sign(.place, section: "place")
        try sign(.nameless, section: "nameless", extensions: "names", more: ["-subj", "/"])
        try sign(.described, section: "described")
        try sign(.centuries, section: "centuries", from: "19490102030405Z", to: "99991231235959Z")
        try sign(.utcTime, section: "centuries", from: "19500101000000Z", to: "20491231235959Z")
    }

    // MARK: - Access

    func der(_ kind: Kind) throws -> Data {
        if let known = bytes.withLock({ $0[kind] }) { return known }
        let made = try run(["x509", "-in", "\(kind).pem", "-outform", "DER"])
        bytes.withLock { $0[kind] = made }
        return made
    }

    func certificate(_ kind: Kind) throws -> SecCertificate {
        try #require(SecCertificateCreateWithData(nil, try der(kind) as CFData), "\(kind)")
    }

    /// The output of `openssl x509` with these options.
    func printed(_ kind: Kind, _ options: String...) throws -> String {
        String(decoding: try run(["x509", "-in", "\(kind).pem", "-noout"] + options), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A PKCS#12 file with a key, its certificate and further certificates.
    func pkcs12(
        _ kind: Kind, passphrase: String = "secret", name: String? = nil, chain: [String] = [], more: [String] = []
    ) throws -> Data {
        var arguments = ["pkcs12", "-export", "-inkey", "\(kind).key", "-in", "\(kind).pem"]
        if let name { arguments += ["-name", name] }
        if !chain.isEmpty {
            let others = "others-\(UUID().uuidString).pem"
            try write(chain.map { try openssl.read("\($0).pem") }.reduce(Data(), +), others)
            arguments += ["-certfile", others]
        }
        return try run(arguments + ["-passout", "pass:" + passphrase] + more)
    }

    /// Runs `openssl` and returns its standard output.
    func run(_ arguments: [String]) throws -> Data { try openssl.output(arguments) }

    func write(_ bytes: Data, _ name: String) throws { try openssl.write(name, bytes) }

    // MARK: - Generation

    private func key(_ name: String, _ options: [String]) throws {
        _ = try run(["genpkey", "-out", "\(name).key"] + options)
    }

    private func sign(
        _ kind: Kind, section: String, extensions: String? = nil, more: [String] = []
    ) throws {
        let use = extensions.map { ["-extensions", $0] } ?? []
        _ = try run(
            [
                "req", "-x509", "-new", "-utf8", "-key", "\(kind).key", "-config", "openssl.cnf", "-section", section,
                "-days", "3650", "-out", "\(kind).pem",
            ] + use + more)
    }

    private func sign(_ kind: Kind, section: String, from start: String, to end: String) throws {
        try request(kind, section)
        _ = try run([
            "ca", "-batch", "-notext", "-selfsign", "-config", "openssl.cnf", "-name", "shop", "-keyfile",
            "\(kind).key",
            "-in", "\(kind).csr", "-startdate", start, "-enddate", end, "-out", "\(kind).pem",
        ])
    }

    private func issue(_ kind: Kind, section: String, by issuer: Kind, extensions: String) throws {
        try request(kind, section)
        _ = try run([
            "x509", "-req", "-in", "\(kind).csr", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key", "-days", "3650",
            "-set_serial", "7", "-extfile", "openssl.cnf", "-extensions", extensions, "-out", "\(kind).pem",
        ])
    }

    private func request(_ kind: Kind, _ section: String) throws {
        _ = try run([
            "req", "-new", "-utf8", "-key", "\(kind).key", "-config", "openssl.cnf", "-section", section, "-out",
            "\(kind).csr",
        ])
    }

    private static let configuration = """
        [printable]
        prompt = no
        string_mask = pkix
        distinguished_name = printable_name
        [printable_name]
        C = de
        O = Example  Trust
        CN = Rsa   Test Certificate
        [accents]
        prompt = no
        string_mask = utf8only
        distinguished_name = accents_name
        [accents_name]
        O = Übergrößenträger GmbH
        CN = Zoë Ångström
        emailAddress = zoe@example.com
        [addresses]
        subjectKeyIdentifier = hash
        subjectAltName = email:zoe@example.org,DNS:example.org,email:Second.Address@Example.net
        [root]
        prompt = no
        string_mask = pkix
        distinguished_name = root_name
        [root_name]
        O = Latchkey Tests
        CN = Latchkey Test Root
        [intermediate]
        prompt = no
        string_mask = pkix
        distinguished_name = intermediate_name
        [intermediate_name]
        O = Latchkey Tests
        CN = Latchkey Test Intermediate
        [leaf]
        prompt = no
        string_mask = utf8only
        distinguished_name = leaf_name
        [leaf_name]
        O = Latchkey Tests
        CN = Latchkey Test Leaf
        [authority]
        basicConstraints = critical,CA:true
        subjectKeyIdentifier = hash
        [end]
        basicConstraints = CA:false
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        [units]
        prompt = no
        distinguished_name = units_name
        [units_name]
        O = Example Organisation
        0.OU = First Unit
        1.OU = Second Unit
        2.OU = Third Unit
        [organization]
        prompt = no
        distinguished_name = organization_name
        [organization_name]
        C = DE
        O = Example Organisation
        [place]
        prompt = no
        distinguished_name = place_name
        [place_name]
        C = DE
        L = Town
        [nameless]
        prompt = no
        distinguished_name = nameless_name
        [nameless_name]
        [names]
        subjectAltName = DNS:host.example.org,email:mailbox@example.org
        [described]
        prompt = no
        distinguished_name = described_name
        [described_name]
        CN = Name
        description = What it is for
        [centuries]
        prompt = no
        distinguished_name = centuries_name
        [centuries_name]
        CN = Centuries
        [shop]
        database = index.txt
        new_certs_dir = .
        rand_serial = yes
        unique_subject = no
        default_md = sha256
        policy = any
        [any]
        commonName = supplied
        """
}
