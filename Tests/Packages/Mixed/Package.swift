// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// One target uses the keychain; the other builds on Linux because it cannot import `Security`.
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
