// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package: it uses only the product for agents, and `swift build` of Latchkey needs no GTK.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "latchkey-agent",
    products: [.executable(name: "latchkey-agent", targets: ["latchkey-agent"])],
    dependencies: [.package(name: "latchkey", path: "../.."), .package(name: "widgets", path: "../Widgets")],
    targets: [
        .executableTarget(
            name: "latchkey-agent",
            dependencies: [
                .product(name: "LatchkeyDesktop", package: "latchkey"), .product(name: "Widgets", package: "widgets"),
                "QRCodes",
            ],
            swiftSettings: strict),

        // The recovery code as a picture (docs/design/decisions/030-settings.md).
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .target(name: "QRCodes", dependencies: ["CQREncode"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
