// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The programs of a system that link libsystemd and libpam, and their drivers (docs/decisions/022-system-package.md).
// The rooms of the package around this one are compiled here again: `Rooms` is a link to its folder `Sources`. So they
// are in one package with the drivers, and what they declare `package` can be used. `scripts/check-arrows` verifies that
// both manifests give a room the same dependencies.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A room of the package around this one.
func shared(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Rooms/\(name)", swiftSettings: strict)
}

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func process(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "latchkey-system",
    products: [
        .executable(name: "latchkey-authd", targets: ["latchkey-authd"]),
        .executable(name: "latchkey-pam", targets: ["latchkey-pam"]),
        .executable(name: "latchkey-fingerprint", targets: ["latchkey-fingerprint"]),
    ],
    targets: [
        // C libraries: module maps, no logic.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CPAM", pkgConfig: "pam", providers: [.apt(["libpam0g-dev"])]),

        // The rooms of latchkey-authd that the package around this one has too.
        .systemLibrary(name: "CLatchkeyLinux", path: "Rooms/CLatchkeyLinux"),
        .systemLibrary(
            name: "COpenSSL", path: "Rooms/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        shared("LatchkeyModel", ["CLatchkeyLinux"]),
        shared("LatchkeyWire", ["LatchkeyModel"]),
        shared("LatchkeyCrypto", ["LatchkeyModel", "COpenSSL"]),
        shared("LatchkeyKeys", ["LatchkeyModel", "COpenSSL"]),
        shared("TPMProtocol", ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys"]),
        shared("LatchkeySystem", ["LatchkeyModel", "CLatchkeyLinux"]),
        shared("LatchkeyTransport", ["LatchkeyModel", "LatchkeySystem", "CLatchkeyLinux"]),
        shared("LatchkeyWords"),
        shared("InstalledWords", ["LatchkeyWords", "LatchkeySystem"]),
        shared("LatchkeyAgentProtocol", ["LatchkeyModel", "LatchkeyWire", "LatchkeyWords"]),
        shared("LatchkeyIdentity", ["LatchkeyModel", "LatchkeySystem"]),
        shared("PAMProtocol", ["LatchkeyModel", "LatchkeyWire"]),
        shared("TerminalPromptLayout", ["LatchkeyModel", "LatchkeyAgentProtocol", "LatchkeyWords"]),
        shared("LatchkeyPolicy", ["LatchkeyModel"]),
        shared("LatchkeySeams", ["LatchkeyModel", "LatchkeyPolicy"]),
        shared("SensorProtocol", ["LatchkeyModel", "LatchkeyWire", "LatchkeySeams"]),
        shared(
            "SensorDriver",
            ["LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "SensorProtocol"]),
        shared(
            "SensorHost", ["LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "SensorProtocol"]),
        shared(
            "LatchkeyAuthority",
            ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeyPolicy", "TPMProtocol"]),
        shared(
            "AuthorityHost",
            [
                "LatchkeyModel", "LatchkeyCrypto", "LatchkeyWire", "LatchkeyTransport", "LatchkeySeams",
                "LatchkeyPolicy", "LatchkeyAuthority",
            ]),
        shared(
            "SystemDriver",
            ["LatchkeyModel", "LatchkeyWire", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeySystem"]),
        shared(
            "TPMDriver",
            ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeySystem", "TPMProtocol"]),
        shared(
            "PromptDriver",
            [
                "LatchkeyModel", "LatchkeySeams", "LatchkeyAgentProtocol", "LatchkeyTransport", "LatchkeySystem",
                "TerminalPromptLayout",
            ]),
        shared(
            "PAMDriver",
            ["LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire", "PAMProtocol"]),
        shared(
            "DaemonProcess",
            ["CLatchkeyLinux", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport"]),
        shared(
            "AuthorityDaemon",
            [
                "DaemonProcess", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport",
                "LatchkeyIdentity", "LatchkeyAuthority", "AuthorityHost", "PAMDriver", "PromptDriver", "SensorDriver",
                "SensorHost", "SystemDriver", "TPMDriver",
            ]),

        // The connection to the system's message bus: calls with deadlines, signals, one thread.
        room("SystemBus", ["LatchkeySystem", "CLatchkeyLinux", "CSystemd"]),
        // Fingerprint readers, through fprintd.
        room("FprintDriver", ["LatchkeyModel", "LatchkeyKeys", "LatchkeySeams", "LatchkeySystem", "SystemBus"]),
        // Login sessions, through logind.
        room("LogindDriver", ["LatchkeyModel", "LatchkeySeams", "SystemBus"]),

        process(
            "latchkey-authd",
            ["AuthorityDaemon", "FprintDriver", "LatchkeyModel", "LatchkeySystem", "LogindDriver", "SystemBus"]),

        // Runs libpam for one verification.
        process(
            "latchkey-pam",
            ["CPAM", "LatchkeyModel", "LatchkeySystem", "LatchkeyTransport", "PAMProtocol"]),

        tests("PAMProcessTests", ["CPAM", "PAMProtocol"]),
        // `latchkey fingerprint`: a program of its own, so that `latchkey` does not link libsystemd.
        room(
            "FingerprintCommand",
            [
                "FprintDriver", "InstalledWords", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyWords",
                "SystemBus",
            ]),
        process("latchkey-fingerprint", ["FingerprintCommand"]),

        // Test kit of the package around this one, and tests.
        .target(
            name: "TestSupport", dependencies: ["CLatchkeyLinux", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySystem"],
            path: "TestSupport", swiftSettings: strict),
        // Optimised in every build: a picture is some hundred million multiplications.
        .target(
            name: "SyntheticFingerprints", dependencies: ["TestSupport"], path: "Tests/SyntheticFingerprints",
            swiftSettings: strict + [.unsafeFlags(["-O"])]),
        // Pictures for the tests of the system, which are in Python.
        .executableTarget(
            name: "synthetic-finger", dependencies: ["SyntheticFingerprints"], path: "Tests/SyntheticFinger",
            swiftSettings: strict),
        .target(
            name: "BusTestSupport",
            dependencies: ["CSystemd", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "TestSupport"],
            path: "Tests/BusTestSupport", swiftSettings: strict),
        .target(
            name: "SensorTestSupport",
            dependencies: [
                "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "SensorDriver", "SensorHost",
            ],
            path: "SensorTestSupport", swiftSettings: strict),
        tests("SystemBusTests", ["SystemBus"]),
        tests(
            "LogindDriverTests",
            [
                "BusTestSupport", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LogindDriver", "SensorDriver",
                "SensorTestSupport", "SystemBus", "SystemDriver", "TestSupport", "latchkey-authd",
            ]),
        tests(
            "FprintDriverTests",
            [
                "BusTestSupport", "CSystemd", "FingerprintCommand", "FprintDriver", "LatchkeyModel", "LatchkeySeams",
                "LatchkeySystem", "LatchkeyWords", "SensorDriver", "SensorTestSupport", "SystemBus", "SystemDriver",
                "SyntheticFingerprints", "TestSupport", "latchkey-authd",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
