// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackageDescription

// An app's package, which uses only public products of Latchkey. DESIGN.md describes the app.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// Whether GTK is installed, which the window needs; without it, `quicknote` only has its terminal front end.
///
/// SwiftPM caches the evaluated manifest: after GTK was installed, build once with `--manifest-cache none`, as the
/// scripts do.
let hasGTK: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["pkg-config", "--exists", "libadwaita-1 >= 1.2"]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
}()

let window: [Target] = [
    .target(
        name: "NoteWindow",
        dependencies: [
            "QuickNoteCore", .product(name: "LatchkeyKit", package: "latchkey"),
            .product(name: "SimulatedSensor", package: "widgets"), .product(name: "Widgets", package: "widgets"),
        ],
        swiftSettings: strict)
]

let package = Package(
    name: "QuickNote",
    products: [
        .library(name: "QuickNoteCore", targets: ["QuickNoteCore"]),
        .executable(name: "quicknote", targets: ["quicknote"]),
    ],
    dependencies: [.package(name: "latchkey", path: "../..")]
        + (hasGTK ? [.package(name: "widgets", path: "../Widgets")] : []),
    targets: [
        .target(
            name: "QuickNoteCore",
            dependencies: [
                .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LocalAuthentication", package: "latchkey"),
                .product(name: "Security", package: "latchkey"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "quicknote",
            dependencies: ["QuickNoteCore", .product(name: "Security", package: "latchkey")]
                + (hasGTK ? ["NoteWindow"] : []),
            swiftSettings: strict + (hasGTK ? [.define("WINDOW")] : [])),
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
    ] + (hasGTK ? window : []),
    swiftLanguageModes: [.v6]
)
