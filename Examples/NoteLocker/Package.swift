// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The package of an example app: it depends on Latchkey's products, and its sources are the same as on Apple systems.
let package = Package(
    name: "NoteLocker",
    platforms: [.iOS(.v18), .macOS(.v15)],
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        .target(
            name: "NoteLocker",
            dependencies: [
                .product(name: "Security", package: "latchkey", condition: .when(platforms: [.linux])),
                .product(name: "LocalAuthentication", package: "latchkey", condition: .when(platforms: [.linux])),
            ],
            plugins: [.plugin(name: "ApplePlatformImports", package: "latchkey")]),
        .testTarget(
            name: "NoteLockerTests",
            dependencies: [
                "NoteLocker",
                .product(name: "LatchkeySimulator", package: "latchkey"),
                .product(name: "LatchkeyTesting", package: "latchkey"),
            ]),
    ]
)
