// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// What the apps' windows are made of. A package of its own, so that nothing but a package that depends on it needs GTK.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "widgets",
    products: [.library(name: "Widgets", targets: ["Widgets"])],
    targets: [
        .systemLibrary(name: "CAdwaita", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        // The only calls into GTK; knows nothing of prompts and notes.
        .target(name: "Widgets", dependencies: ["CAdwaita"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
