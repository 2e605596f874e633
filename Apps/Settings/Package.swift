// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package: it uses only the product for settings, and `swift build` of Latchkey needs no GTK.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "latchkey-settings",
    products: [.executable(name: "latchkey-settings", targets: ["latchkey-settings"])],
    dependencies: [.package(name: "latchkey", path: "../.."), .package(name: "widgets", path: "../Widgets")],
    targets: [
        .executableTarget(
            name: "latchkey-settings",
            dependencies: [
                .product(name: "LatchkeyDesktop", package: "latchkey"), .product(name: "Widgets", package: "widgets"),
            ],
            swiftSettings: strict)
    ],
    swiftLanguageModes: [.v6]
)
