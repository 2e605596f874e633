// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The server that accepts keys of devices: a separate package, so that `swift build` of Latchkey needs no HTTP server
// (docs/design/decisions/036-relying-party.md). It uses two products of the package around it, and no program of that is
// built. Its targets have names of their own: names are unique in a graph of packages.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

// Needs libFuzzer; `make fuzz` sets this.
let fuzzer: [Target] =
    Context.environment["LATCHKEY_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "latchkey-server-fuzzer", dependencies: ["ServerFuzzProperties"], path: "Fuzz/Program",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    ]

let package = Package(
    name: "latchkey-relying-party",
    products: [
        .library(name: "SignInVerification", targets: ["SignInVerification"]),
        .executable(name: "latchkey-server", targets: ["latchkey-server"]),
    ],
    dependencies: [.package(name: "latchkey", path: "..")],
    targets: [
        // C libraries: module maps and static inline shims, no logic.
        .systemLibrary(name: "CServerOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CServerSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CServerPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CServerHTTP", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev", "libgnutls28-dev"])]),

        // Digests, message authentication, P-256 keys and their signatures.
        module("RelyingPartyCrypto", ["CServerOpenSSL"]),
        // JSON that is read strictly.
        module("RelyingPartyJSON"),
        // What keys sign at a sign-in: challenges, bound proofs and passkeys (WebAuthn). Pure functions, and the only module with
        // a promise to other packages.
        module("SignInVerification", ["RelyingPartyCrypto", "RelyingPartyJSON"]),
        // Proofs that a key is in a TPM; the only module that uses code of the package around this one.
        module(
            "RelyingPartyAttestation", ["RelyingPartyCrypto", .product(name: "DeviceProof", package: "latchkey")]),
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
                .product(name: "CommandWords", package: "latchkey"), "RelyingParty", "RelyingPartyAPI",
                "RelyingPartyAdmin", "RelyingPartyAttestation", "RelyingPartyCrypto", "RelyingPartyHTTP",
                "RelyingPartyJSON", "RelyingPartyPostgreSQL", "RelyingPartySQLite", "SignInVerification",
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

        .target(
            name: "ServerTestSupport", dependencies: ["CServerOpenSSL", "RelyingPartyCrypto"], path: "Tests/Support",
            swiftSettings: strict),
        // What the fuzzers check; the tests check the same for the stored inputs.
        .target(
            name: "ServerFuzzProperties",
            dependencies: [
                "RelyingParty", "RelyingPartyAPI", "RelyingPartyAdmin", "RelyingPartyAttestation", "RelyingPartyCrypto",
                "RelyingPartyHTTP", "RelyingPartyJSON", "RelyingPartySQLite", "SignInVerification",
            ],
            path: "Fuzz", exclude: ["Program", "corpus"], swiftSettings: strict),
        tests("RelyingPartyJSONTests", ["RelyingPartyJSON"]),
        tests(
            "SignInVerificationTests",
            [
                "CServerOpenSSL", "RelyingPartyCrypto", "RelyingPartyJSON", "ServerFuzzProperties", "ServerTestSupport",
                "SignInVerification",
            ]),
        tests(
            "RelyingPartyTests",
            [
                "CServerOpenSSL", "CServerSQLite", "RelyingParty", "RelyingPartyAPI", "RelyingPartyAdmin",
                "RelyingPartyAttestation", "RelyingPartyCrypto", "RelyingPartyHTTP", "RelyingPartyJSON",
                "RelyingPartyPostgreSQL", "RelyingPartySQLite", "ServerFuzzProperties", "ServerTestSupport",
                "SignInVerification", "latchkey-server",
            ]),
    ] + fuzzer,
    swiftLanguageModes: [.v6]
)
