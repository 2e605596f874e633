// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The server that accepts keys of devices: a separate package, so that `swift build` of Latchkey needs no HTTP server
// (docs/design/decisions/036-relying-party.md). It shares no code with the package around it but the product
// `DeviceProof`. `Rooms` is a link to its folder `Sources`: the targets of that product are compiled here again,
// because a dependency on the package would compile all its programs with the tests. `scripts/check-dependencies`
// verifies that both manifests give a target the same dependencies. The other targets have names of their own: names
// are unique in a graph of packages.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

/// A target of the package around this one.
func shared(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: String(path.drop { $0 != "/" }.dropFirst()), dependencies: dependencies, path: "Rooms/\(path)",
        swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "latchkey-relying-party",
    products: [
        .library(name: "SignInVerification", targets: ["SignInVerification"]),
        .executable(name: "latchkey-server", targets: ["latchkey-server"]),
    ],
    targets: [
        // C libraries: module maps and static inline shims, no logic.
        .systemLibrary(name: "CServerOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CServerSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CServerPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CServerHTTP", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev", "libgnutls28-dev"])]),

        // The product `DeviceProof` of the package around this one, and the modules below it.
        .systemLibrary(name: "CLatchkeyLinux", path: "Rooms/Drivers/CLatchkeyLinux"),
        .systemLibrary(
            name: "COpenSSL", path: "Rooms/Drivers/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        shared("Formats/LatchkeyModel", ["CLatchkeyLinux"]),
        shared("Formats/LatchkeyCrypto", ["COpenSSL", "LatchkeyModel"]),
        shared("Formats/LatchkeyCertificates", ["COpenSSL", "LatchkeyCrypto", "LatchkeyModel"]),
        shared("Formats/TPMProtocol", ["LatchkeyCrypto", "LatchkeyModel"]),
        shared("API/DeviceProof", ["LatchkeyCertificates", "LatchkeyCrypto", "LatchkeyModel", "TPMProtocol"]),

        // What the command lines of both packages do alike.
        shared("Programs/CommandWords"),

        // Digests, message authentication, P-256 keys and their signatures.
        module("RelyingPartyCrypto", ["CServerOpenSSL"]),
        // JSON that is read strictly.
        module("RelyingPartyJSON"),
        // What keys sign at a sign-in: challenges, bound proofs and passkeys (WebAuthn). Pure functions, and the only module with
        // a promise to other packages.
        module("SignInVerification", ["RelyingPartyCrypto", "RelyingPartyJSON"]),
        // Proofs that a key is in a TPM; the only module that uses code of the package around this one.
        module("RelyingPartyAttestation", ["RelyingPartyCrypto", "DeviceProof"]),
        // Challenges, keys, sessions, revocation and the audit log. No input or output but SQL, through a protocol.
        module(
            "RelyingParty",
            ["RelyingPartyAttestation", "RelyingPartyCrypto", "RelyingPartyJSON", "SignInVerification"]),
        // The storage in a file of SQLite.
        module("RelyingPartySQLite", ["RelyingParty", "RelyingPartyCrypto", "CServerSQLite"]),
        // The storage in a database of PostgreSQL, which several nodes share.
        module("RelyingPartyPostgreSQL", ["RelyingParty", "CServerPostgreSQL"]),
        // Requests and responses of HTTP; no knowledge of what they mean.
        module("RelyingPartyHTTP", ["CServerHTTP"]),
        // The interface /v1: what each request means.
        module(
            "RelyingPartyAPI",
            ["RelyingParty", "RelyingPartyCrypto", "RelyingPartyHTTP", "RelyingPartyJSON", "SignInVerification"],
            resources: [.embedInCode("OpenAPI.json")]),
        // The page of the administration and its requests. The files of the page become a part of the program.
        module(
            "RelyingPartyAdmin",
            ["RelyingParty", "RelyingPartyAPI", "RelyingPartyCrypto", "RelyingPartyHTTP", "RelyingPartyJSON"],
            resources: [.embedInCode("Page")]),
        .executableTarget(
            name: "latchkey-server",
            dependencies: [
                "CommandWords", "RelyingParty", "RelyingPartyAPI", "RelyingPartyAdmin", "RelyingPartyAttestation",
                "RelyingPartyCrypto",
                "RelyingPartyHTTP", "RelyingPartyJSON", "RelyingPartyPostgreSQL", "RelyingPartySQLite",
                "SignInVerification",
            ],
            swiftSettings: strict),

        // What a sign-in costs, beside the least that the libraries below need.
        .executableTarget(
            name: "relying-party-bench",
            dependencies: [
                "CServerOpenSSL", "CServerSQLite", "RelyingParty", "RelyingPartyCrypto", "RelyingPartyJSON",
                "RelyingPartySQLite", "SignInVerification",
            ],
            path: "Benchmarks/relying-party-bench", swiftSettings: strict),

        tests("RelyingPartyJSONTests", ["RelyingPartyJSON"]),
        tests(
            "SignInVerificationTests",
            ["CServerOpenSSL", "RelyingPartyCrypto", "RelyingPartyJSON", "SignInVerification"]),
        tests(
            "RelyingPartyTests",
            [
                "CServerOpenSSL", "CServerSQLite", "RelyingParty", "RelyingPartyAPI", "RelyingPartyAdmin",
                "RelyingPartyAttestation", "RelyingPartyCrypto", "RelyingPartyHTTP", "RelyingPartyJSON",
                "RelyingPartyPostgreSQL", "RelyingPartySQLite", "SignInVerification", "latchkey-server",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
