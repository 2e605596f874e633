// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// An app's package, which uses only public products of Latchkey. DESIGN.md describes the app.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "SignIn",
    products: [
        .library(name: "SignInCore", targets: ["SignInCore"]),
        .executable(name: "latchkey-sign-in", targets: ["latchkey-sign-in"]),
    ],
    dependencies: [.package(name: "latchkey", path: "../.."), .package(name: "widgets", path: "../Widgets")],
    targets: [
        .target(
            name: "SignInCore",
            dependencies: [
                .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LatchkeySignIn", package: "latchkey"),
                .product(name: "LocalAuthentication", package: "latchkey"),
            ],
            swiftSettings: strict),
        .target(
            name: "SignInWindow",
            dependencies: [
                "SignInCore", .product(name: "SimulatedSensor", package: "widgets"),
                .product(name: "Widgets", package: "widgets"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "latchkey-sign-in",
            dependencies: ["SignInCore", "SignInWindow", .product(name: "Security", package: "latchkey")],
            swiftSettings: strict),
        .testTarget(
            name: "SignInCoreTests",
            dependencies: [
                "SignInCore", .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LatchkeySignIn", package: "latchkey"),
                .product(name: "LatchkeyTesting", package: "latchkey"),
                .product(name: "LocalAuthentication", package: "latchkey"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
