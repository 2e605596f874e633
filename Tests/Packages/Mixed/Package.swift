// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// One target that uses the keychain, and one that builds on Linux because `Security` is not there.
let package = Package(
    name: "Mixed",
    products: [.executable(name: "mixed", targets: ["mixed"])],
    targets: [
        .target(name: "Fetch"),
        .target(name: "Vault"),
        .executableTarget(name: "mixed", dependencies: ["Fetch", "Vault"]),
        .testTarget(name: "FetchTests", dependencies: ["Fetch"]),
        .testTarget(name: "VaultTests", dependencies: ["Vault"]),
    ]
)
