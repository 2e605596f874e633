// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The widgets of the apps' windows: a separate package, so that only packages that depend on it need GTK.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "widgets",
    products: [
        .library(name: "Widgets", targets: ["Widgets"]),
        .library(name: "SimulatedSensor", targets: ["SimulatedSensor"]),
    ],
    targets: [
        .systemLibrary(name: "CAdwaita", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        // The only code that calls GTK; it has no knowledge of prompts or notes.
        .target(name: "Widgets", dependencies: ["CAdwaita"], swiftSettings: strict),
        // The buttons with which an app operates the sensor of a simulated machine.
        .target(name: "SimulatedSensor", dependencies: ["Widgets"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
