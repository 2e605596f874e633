// swift-tools-version: 5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "Strongbox",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [
        .library(name: "Strongbox", targets: ["Strongbox"]),
        .executable(name: "strongbox-keys", targets: ["strongbox-keys"]),
    ],
    targets: [
        .target(name: "Strongbox"),
        .executableTarget(name: "strongbox-keys", dependencies: ["Strongbox"]),
        .testTarget(name: "StrongboxTests", dependencies: ["Strongbox"]),
    ]
)
