// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// An app's package: it sees of Latchkey what every app sees. DESIGN.md tells what it does with it.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "QuickNote",
    products: [
        .library(name: "QuickNoteCore", targets: ["QuickNoteCore"]),
        .executable(name: "quicknote", targets: ["quicknote"]),
    ],
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        .target(
            name: "QuickNoteCore",
            dependencies: [
                .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LocalAuthentication", package: "latchkey"),
                .product(name: "Security", package: "latchkey"),
            ],
            swiftSettings: strict),
        .executableTarget(name: "quicknote", dependencies: ["QuickNoteCore"], swiftSettings: strict),
        .testTarget(
            name: "QuickNoteCoreTests",
            dependencies: [
                "QuickNoteCore", .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LatchkeySimulator", package: "latchkey"),
                .product(name: "LatchkeyTesting", package: "latchkey"),
                .product(name: "LocalAuthentication", package: "latchkey"),
                .product(name: "Security", package: "latchkey"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
