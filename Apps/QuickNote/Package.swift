// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// An app's package: it sees of Latchkey what every app sees. The cipher of the notes is libcrypto's, by a module map of
// its own; DESIGN.md says why.

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
        .systemLibrary(name: "CQuickNoteCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "QuickNoteCore",
            dependencies: [
                "CQuickNoteCrypto", .product(name: "LatchkeyKit", package: "latchkey"),
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
