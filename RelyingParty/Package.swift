// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The server that accepts keys of devices: a separate package, so that `swift build` of Latchkey needs no HTTP server
// (docs/decisions/036-relying-party.md). It shares no code with the package around it, and its targets have names of
// their own: names are unique in a graph of packages.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "latchkey-relying-party",
    products: [
        .library(name: "RelyingParty", targets: ["RelyingParty", "RelyingPartySQLite"]),
        .executable(name: "latchkey-server", targets: ["latchkey-server"]),
    ],
    targets: [
        // C libraries: module maps and static inline shims, no logic.
        .systemLibrary(name: "CServerOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CServerSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CServerHTTP", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),

        // Digests, message authentication, P-256 keys and their signatures.
        room("RelyingPartyCrypto", ["CServerOpenSSL"]),
        // JSON that is read strictly.
        room("RelyingPartyJSON"),
        // Challenges, keys, sessions, revocation and the audit log. No input or output but SQL, through a protocol.
        room("RelyingParty", ["RelyingPartyCrypto", "RelyingPartyJSON"]),
        // The storage in a file of SQLite.
        room("RelyingPartySQLite", ["RelyingParty", "RelyingPartyCrypto", "CServerSQLite"]),
        // Requests and responses of HTTP; no knowledge of what they mean.
        room("RelyingPartyHTTP", ["CServerHTTP"]),
        // The interface /v1: what each request means.
        room("RelyingPartyAPI", ["RelyingParty", "RelyingPartyCrypto", "RelyingPartyHTTP", "RelyingPartyJSON"]),
        .executableTarget(
            name: "latchkey-server",
            dependencies: [
                "RelyingParty", "RelyingPartyAPI", "RelyingPartyCrypto", "RelyingPartyHTTP", "RelyingPartyJSON",
                "RelyingPartySQLite",
            ],
            swiftSettings: strict),

        tests("RelyingPartyJSONTests", ["RelyingPartyJSON"]),
        tests(
            "RelyingPartyTests",
            [
                "CServerOpenSSL", "RelyingParty", "RelyingPartyAPI", "RelyingPartyCrypto", "RelyingPartyHTTP",
                "RelyingPartyJSON", "RelyingPartySQLite",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
