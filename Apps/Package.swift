// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The programs with a window: a package of their own, so that `swift build` of Latchkey needs no GTK. The prompt and the
// settings are parts of Latchkey; QuickNote and SignIn are samples, which use only what any app can (DESIGN.md beside them).

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

func latchkey(_ product: String) -> Target.Dependency { .product(name: product, package: "latchkey") }

func target(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name(path), dependencies: dependencies, path: path, swiftSettings: strict)
}

func program(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name(path), dependencies: dependencies, path: path, swiftSettings: strict)
}

func tests(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name(path), dependencies: dependencies, path: path, swiftSettings: strict)
}

func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

let package = Package(
    name: "latchkey-apps",
    dependencies: [.package(name: "latchkey", path: "..")],
    targets: [
        .systemLibrary(
            name: "CAdwaita", path: "Widgets/Sources/CAdwaita", pkgConfig: "libadwaita-1",
            providers: [.apt(["libadwaita-1-dev"])]),
        // The only code that calls GTK; it has no knowledge of prompts or notes.
        target("Widgets/Sources/Widgets", ["CAdwaita"]),
        // The buttons with which an app operates the sensor of a simulated machine.
        target("Widgets/Sources/SimulatedSensor", ["Widgets"]),

        // The recovery code as a picture (docs/design/decisions/030-settings.md).
        .systemLibrary(
            name: "CQREncode", path: "Agent/Sources/CQREncode", pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"])]),
        target("Agent/Sources/QRCodes", ["CQREncode"]),
        program("Agent/Sources/latchkey-agent", [latchkey("LatchkeyDesktop"), "Widgets", "QRCodes"]),

        program("Settings/Sources/latchkey-settings", [latchkey("LatchkeyDesktop"), "Widgets"]),

        target(
            "QuickNote/Sources/QuickNoteCore",
            [latchkey("LatchkeyKit"), latchkey("LocalAuthentication"), latchkey("Security")]),
        program(
            "QuickNote/Sources/quicknote",
            ["QuickNoteCore", "SimulatedSensor", "Widgets", latchkey("LatchkeyKit"), latchkey("Security")]),
        tests(
            "QuickNote/Tests/QuickNoteCoreTests",
            [
                "QuickNoteCore", latchkey("LatchkeyKit"), latchkey("LatchkeySimulator"), latchkey("LatchkeyTesting"),
                latchkey("LocalAuthentication"), latchkey("Security"),
            ]),

        // Writes notes without a window.
        program("QuickNote/Tests/note-writer", ["QuickNoteCore"]),

        target(
            "SignIn/Sources/SignInCore",
            [latchkey("LatchkeyKit"), latchkey("LatchkeySignIn"), latchkey("LocalAuthentication")]),
        program(
            "SignIn/Sources/latchkey-sign-in", ["SignInCore", "SimulatedSensor", "Widgets", latchkey("Security")]),
        tests(
            "SignIn/Tests/SignInCoreTests",
            [
                "SignInCore", latchkey("LatchkeyKit"), latchkey("LatchkeySignIn"), latchkey("LatchkeyTesting"),
                latchkey("LocalAuthentication"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
