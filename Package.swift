// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// docs/design/targets.md says what each target does; `scripts/generate targets` prints this graph.

// Set by make and by the checks. Warnings of a dependency are nothing that its user can mend, and the compiler refuses both
// of "conflicting options '-warnings-as-errors' and '-suppress-warnings'", with which SwiftPM compiles dependencies.
let isStrict = Context.environment["LATCHKEY_STRICT"] != nil

let strict: [SwiftSetting] =
    (isStrict ? [.treatAllWarnings(as: .error)] : []) + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ]

// The state machine of authentication is also optimised in debug builds of this checkout: its tests enumerate millions of
// transitions, which takes five times as long without. A package with unsafe flags cannot be a dependency by version.
let optimised: [SwiftSetting] =
    strict + (isStrict ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])

/// A target below a folder of `Sources`.
func target(
    _ path: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = strict
) -> Target {
    .target(name: name(path), dependencies: dependencies, path: "Sources/\(path)", swiftSettings: settings)
}

func program(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name(path), dependencies: dependencies, path: "Sources/\(path)", swiftSettings: strict)
}

func library(_ name: String, _ pkgConfig: String? = nil, _ packages: [String] = []) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Drivers/\(name)", pkgConfig: pkgConfig,
        providers: packages.isEmpty ? nil : [.apt(packages)])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TestPromises"], exclude: exclude, swiftSettings: strict)
}

func name(_ path: String) -> String { String(path.drop { $0 != "/" }.dropFirst()) }

// Needs libFuzzer; `make fuzz` sets this.
let fuzzer: [Target] =
    Context.environment["LATCHKEY_FUZZ"] == nil
    ? []
    : [
        .executableTarget(
            name: "latchkey-fuzzer", dependencies: ["FuzzProperties"], path: "Tests/Fuzz/Program",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
    ]

#if os(Linux)
let package = Package(
    name: "latchkey",
    products: [
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LatchkeyKit", targets: ["LatchkeyKit"]),
        .library(name: "SecureEnclaveKit", targets: ["SecureEnclaveKit"]),
        .library(name: "KeyFormats", targets: ["KeyFormats"]),
        .library(name: "DeviceProof", targets: ["DeviceProof"]),
        .library(name: "LatchkeySignIn", targets: ["LatchkeySignIn"]),
        // With the API modules, without which a test of them does not link.
        .library(name: "LatchkeySimulator", targets: ["LatchkeySimulator", "LocalAuthentication", "Security"]),
        .library(name: "LatchkeyTesting", targets: ["LatchkeyTesting", "LocalAuthentication", "Security"]),
        .library(name: "LatchkeyDesktop", targets: ["LatchkeyDesktop", "LatchkeyWords"]),
        // For our own server, which is a package of its own.
        .library(name: "CommandWords", targets: ["CommandWords"]),
        .plugin(name: "ApplePlatformImports", targets: ["ApplePlatformImports"]),
        .executable(name: "latchkeyd", targets: ["latchkeyd"]),
        .executable(name: "latchkey-prompt", targets: ["latchkey-prompt"]),
        .executable(name: "latchkey", targets: ["latchkey"]),
        .executable(name: "latchkey-authd", targets: ["latchkey-authd"]),
        .executable(name: "latchkey-pam", targets: ["latchkey-pam"]),
        .executable(name: "latchkey-fingerprint", targets: ["latchkey-fingerprint"]),
        .executable(name: "latchkey-secrets", targets: ["latchkey-secrets"]),
    ],
    targets: [
        // C libraries: module maps and static inline shims, no logic. No product for programs of others uses the last two.
        library("CLatchkeyLinux"),
        library("CSQLite", "sqlite3", ["libsqlite3-dev"]),
        library("COpenSSL", "libcrypto", ["libssl-dev"]),
        library("CSystemd", "libsystemd", ["libsystemd-dev"]),
        library("CPAM", "pam", ["libpam0g-dev"]),

        // Values, messages and formats: no input or output, but the search for the catalogues of the texts.
        target("Formats/LatchkeyModel", ["CLatchkeyLinux"], optimised),
        target("Formats/LatchkeyWire", ["LatchkeyModel"]),
        target("Formats/LatchkeyCrypto", ["COpenSSL", "LatchkeyModel"]),
        target("Formats/LatchkeyCertificates", ["COpenSSL", "LatchkeyCrypto", "LatchkeyModel"]),
        target("Formats/TPMProtocol", ["LatchkeyCrypto", "LatchkeyModel"]),
        target("Formats/LatchkeyWords", ["LatchkeyModel", "LatchkeySystem"]),
        target("Formats/LatchkeyPrompts", ["LatchkeyModel", "LatchkeyWire", "LatchkeyWords"]),

        // The engine: no input or output of its own. LatchkeySeams has the protocols of the drivers.
        target("Engine/LatchkeyPolicy", ["LatchkeyModel"], optimised),
        target("Engine/LatchkeySeams", ["LatchkeyModel", "LatchkeyPolicy"]),
        target(
            "Engine/LatchkeyAuthority",
            ["LatchkeyCrypto", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "TPMProtocol"]),
        target(
            "Engine/LatchkeyKeychain",
            ["LatchkeyCrypto", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "LatchkeyWire"]),
        target(
            "Engine/LatchkeyService",
            ["LatchkeyCrypto", "LatchkeyKeychain", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "LatchkeyWire"]),

        // System calls, and drivers, which never import each other.
        target("Drivers/LatchkeySystem", ["CLatchkeyLinux", "LatchkeyModel"]),
        target("Drivers/LatchkeyIdentity", ["LatchkeyModel", "LatchkeySystem"]),
        target("Drivers/SQLiteDriver", ["CSQLite", "LatchkeyModel", "LatchkeySeams"]),
        target(
            "Drivers/SystemDriver",
            ["LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyWire"]),
        target("Drivers/SoftwareEnclaveDriver", ["LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams"]),
        target(
            "Drivers/TPMDriver", ["LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "TPMProtocol"]),
        target(
            "Drivers/AuthorityDriver",
            ["LatchkeyCrypto", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "LatchkeySystem", "LatchkeyWire"]),
        // Prompts, the sensors of tier user and PAM: each starts a process and exchanges frames with it.
        target(
            "Drivers/ChildProcessDrivers",
            ["LatchkeyModel", "LatchkeyPrompts", "LatchkeySeams", "LatchkeySystem", "LatchkeyWire"]),
        // The system's message bus, and fprintd and logind on it.
        target(
            "Drivers/BusDrivers",
            ["CLatchkeyLinux", "CSystemd", "LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem"]),

        // For programs of others: the API, its client, and libraries on top of it.
        target("API/LatchkeyClient", ["LatchkeyModel", "LatchkeySystem", "LatchkeyWire"]),
        target(
            "API/Security",
            ["LatchkeyCertificates", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyModel", "LatchkeySystem"]),
        target("API/LocalAuthentication", ["LatchkeyClient", "LatchkeyModel", "Security"]),
        // Also builds on Apple systems.
        target("API/LatchkeyKit", ["LocalAuthentication", "Security"]),
        target("API/SecureEnclaveKit", ["LocalAuthentication", "Security"]),
        target("API/KeyFormats", ["LatchkeyCrypto", "LatchkeyModel"]),
        target("API/DeviceProof", ["LatchkeyCertificates", "LatchkeyCrypto", "LatchkeyModel", "TPMProtocol"]),
        // The only target that links FoundationNetworking.
        target(
            "API/LatchkeySignIn",
            [
                "KeyFormats", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyKit", "LatchkeyModel", "LocalAuthentication",
                "Security",
            ]),
        // For our own windows, which are packages of their own.
        target(
            "API/LatchkeyDesktop",
            [
                "LatchkeyClient", "LatchkeyIdentity", "LatchkeyModel", "LatchkeyPrompts", "LatchkeySystem",
                "LatchkeyWire",
                "LatchkeyWords",
            ]),
        // Re-exports in a target what `import Foundation` brings on Apple systems.
        .plugin(name: "ApplePlatformImports", capability: .buildTool(), path: "Sources/Plugins/ApplePlatformImports"),

        // The test kit.
        target("TestKit/SimulatedDriver", ["LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams"]),
        target(
            "TestKit/LatchkeySimulator",
            [
                "LatchkeyAuthority", "LatchkeyClient", "LatchkeyKeychain", "LatchkeyModel", "LatchkeySeams",
                "LatchkeyService", "LatchkeySystem", "SimulatedDriver", "SoftwareEnclaveDriver", "SQLiteDriver",
                "SystemDriver",
            ]),
        target("TestKit/LatchkeyTesting", ["LatchkeySimulator"]),

        // Programs. Only they, AuthorityDaemon and the test kit name concrete drivers.
        target(
            "Programs/AuthorityDaemon",
            [
                "ChildProcessDrivers", "LatchkeyAuthority", "LatchkeyCrypto", "LatchkeyIdentity", "LatchkeyModel",
                "LatchkeyPolicy", "LatchkeySeams", "LatchkeySystem", "LatchkeyWire", "SystemDriver", "TPMDriver",
            ]),
        program("Programs/latchkey-authd", ["AuthorityDaemon", "BusDrivers", "LatchkeyModel", "LatchkeySystem"]),
        program(
            "Programs/latchkeyd",
            [
                "AuthorityDriver", "ChildProcessDrivers", "LatchkeyAuthority", "LatchkeyClient", "LatchkeyIdentity",
                "LatchkeyKeychain", "LatchkeyModel", "LatchkeySeams", "LatchkeyService", "LatchkeySystem",
                "SimulatedDriver", "SoftwareEnclaveDriver", "SQLiteDriver", "SystemDriver", "TPMDriver",
            ]),
        // Runs libpam for one verification.
        program("Programs/latchkey-pam", ["CPAM", "LatchkeyModel", "LatchkeySystem", "LatchkeyWire"]),
        program(
            "Programs/latchkey-prompt",
            ["LatchkeyModel", "LatchkeyPrompts", "LatchkeySystem", "LatchkeyWire", "LatchkeyWords"]),
        // `latchkey fingerprint`: a program of its own, so that `latchkey` does not link libsystemd.
        program(
            "Programs/latchkey-fingerprint",
            ["BusDrivers", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyWords"]),
        // The provider of org.freedesktop.secrets, and `latchkey secrets`.
        program(
            "Programs/latchkey-secrets",
            [
                "BusDrivers", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyIdentity", "LatchkeyModel", "LatchkeySystem",
                "LatchkeyWire", "LatchkeyWords",
            ]),
        // What the command lines of both packages do alike.
        target("Programs/CommandWords"),
        // The reader of JSON of the server's package, whose targets no target of this package can use.
        .target(name: "StrictJSON", path: "RelyingParty/Sources/RelyingPartyJSON", swiftSettings: strict),
        target(
            "Programs/SSHAgent",
            ["KeyFormats", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyModel", "LatchkeySystem", "LatchkeyWords"]),
        program(
            "Programs/latchkey",
            [
                "CommandWords", "DeviceProof", "KeyFormats", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyModel",
                "LatchkeyDesktop", "LatchkeyPrompts", "LatchkeySeams", "LatchkeySystem", "LatchkeyWords", "SSHAgent",
                "StrictJSON", "SystemDriver", "TPMDriver",
            ]),

        // A program of another team, in five minutes; `make demo` runs it.
        .executableTarget(
            name: "latchkey-demo",
            dependencies: ["LatchkeyClient", "LatchkeyModel", "LatchkeySystem", "LocalAuthentication", "Security"],
            path: "Examples/Demo", swiftSettings: strict),
        // latchkey-authd with a scripted sensor.
        .executableTarget(
            name: "latchkey-authd-testing",
            dependencies: [
                "AuthorityDaemon", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "SimulatedDriver",
                "SystemDriver",
            ],
            path: "Tests/AuthorityTesting", swiftSettings: strict),

        // Tests: one target for each module or seam, and DaemonTests for several processes.
        .executableTarget(
            name: "latchkey-test-client",
            dependencies: [
                "LatchkeyClient", "LatchkeyDesktop", "LatchkeyModel", "LatchkeySystem", "LatchkeyWire",
                "LocalAuthentication", "SecureEnclaveKit", "Security",
            ],
            path: "Tests/TestClient", swiftSettings: strict),
        // The trait that names the promises of docs/design/promises.md which a test shows.
        .target(name: "TestPromises", path: "Tests/TestPromises", swiftSettings: strict),
        // Shared by several test targets; includes the lists of Apple's symbols and of this package's symbols.
        .target(
            name: "TestSupport",
            dependencies: ["CLatchkeyLinux", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySystem", "LatchkeyWire"],
            path: "Tests/TestSupport", swiftSettings: strict),
        // The process of the sensors of tier user, on a thread of a test.
        .target(
            name: "SensorTestSupport",
            dependencies: [
                "AuthorityDaemon", "ChildProcessDrivers", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem",
                "TestSupport",
            ],
            path: "Tests/SensorTestSupport", swiftSettings: strict),
        // Stand-ins for drivers of hardware; shared by several test targets.
        .target(
            name: "SeamStandIns",
            dependencies: ["LatchkeyModel", "LatchkeySeams", "SystemDriver", "TestSupport", "TPMDriver"],
            path: "Tests/SeamStandIns", swiftSettings: strict),
        // What the fuzzers check; the tests check the same for the stored inputs and their own.
        .target(
            name: "FuzzProperties",
            dependencies: [
                "ChildProcessDrivers", "DeviceProof", "KeyFormats", "LatchkeyCertificates", "LatchkeyClient",
                "LatchkeyCrypto", "LatchkeyKeychain", "LatchkeyModel", "LatchkeyPolicy", "LatchkeyPrompts",
                "LatchkeySeams", "LatchkeyWire", "LatchkeyWords", "Security", "SimulatedDriver", "SSHAgent",
                "SystemDriver", "TPMDriver", "TPMProtocol",
            ],
            path: "Tests/Fuzz", exclude: ["Program", "corpus", "processes.py"], swiftSettings: strict),
        tests(
            "DaemonTests",
            [
                "ChildProcessDrivers", "CLatchkeyLinux", "DeviceProof", "latchkey", "latchkey-authd-testing",
                "latchkey-demo", "latchkey-prompt", "latchkey-test-client", "LatchkeyClient", "LatchkeyCrypto",
                "latchkeyd", "LatchkeyKeychain", "LatchkeyModel", "LatchkeyPrompts", "LatchkeySeams", "LatchkeyService",
                "LatchkeySystem", "LatchkeyWire", "LatchkeyWords", "SQLiteDriver", "SystemDriver", "TestSupport",
                "TPMDriver",
            ], exclude: ["Forge", "Scripts"]),
        tests("LatchkeyTransportTests", ["LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests(
            "LatchkeyClientTests",
            ["LatchkeyClient", "LatchkeyModel", "LatchkeySystem", "LatchkeyWire", "TestSupport"]),
        tests("LatchkeySystemTests", ["LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests(
            "LatchkeyServiceTests",
            [
                "LatchkeyAuthority", "LatchkeyClient", "LatchkeyKeychain", "LatchkeyModel", "LatchkeyPolicy",
                "LatchkeySeams", "LatchkeyService", "LatchkeyWire", "SeamStandIns", "SimulatedDriver",
                "SoftwareEnclaveDriver", "SQLiteDriver", "SystemDriver", "TestSupport",
            ]),
        tests(
            "LatchkeyKeychainTests",
            [
                "FuzzProperties", "CSQLite", "LatchkeyAuthority", "LatchkeyCrypto", "LatchkeyKeychain", "LatchkeyModel",
                "LatchkeyPolicy",
                "LatchkeySeams", "LatchkeyService", "LatchkeyWire", "SeamStandIns", "SimulatedDriver", "SQLiteDriver",
                "SystemDriver", "TestSupport", "TPMDriver",
            ]),
        tests("SQLiteDriverTests", ["LatchkeyModel", "LatchkeySeams", "SQLiteDriver", "TestSupport"]),
        tests("SystemDriverTests", ["LatchkeyModel", "LatchkeySeams", "SystemDriver", "TestSupport"]),
        tests("LatchkeyModelTests", ["LatchkeyModel"]),
        tests(
            "AuthorityHostTests",
            [
                "AuthorityDaemon", "AuthorityDriver", "LatchkeyAuthority", "LatchkeyCrypto", "LatchkeyKeychain",
                "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "LatchkeyService", "LatchkeySystem", "LatchkeyWire",
                "SeamStandIns", "SimulatedDriver", "SQLiteDriver", "SystemDriver", "TestSupport", "TPMDriver",
                "TPMProtocol",
            ]),
        tests(
            "LatchkeyDoctorTests",
            [
                "LatchkeyClient", "LatchkeyDesktop", "LatchkeyIdentity", "LatchkeyModel", "LatchkeySystem",
                "TestSupport",
            ]),
        tests("LatchkeyIdentityTests", ["LatchkeyIdentity", "LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests(
            "TPMProtocolTests",
            ["LatchkeyCrypto", "LatchkeyModel", "LatchkeySystem", "TestSupport", "TPMProtocol"]),
        tests(
            "DeviceProofTests",
            [
                "DeviceProof", "LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "SimulatedDriver",
                "SystemDriver", "TestSupport", "TPMDriver", "TPMProtocol",
            ], exclude: ["check-proof.py"]),
        tests(
            "LatchkeyBackupTests",
            ["FuzzProperties", "LatchkeyCrypto", "LatchkeyKeychain", "LatchkeyModel", "TestSupport"]),
        tests(
            "LatchkeyWireTests", ["FuzzProperties", "LatchkeyModel", "LatchkeyPrompts", "LatchkeyWire", "TestSupport"]),
        tests("LatchkeyWordsTests", ["FuzzProperties", "LatchkeyModel", "LatchkeyWords", "TestSupport"]),
        tests(
            "LatchkeySettingsTests",
            ["LatchkeyDesktop", "LatchkeyModel", "LatchkeySystem", "LatchkeyWire", "TestSupport"]),
        tests(
            "LatchkeyAgentTests",
            ["LatchkeyDesktop", "LatchkeyModel", "LatchkeyPrompts", "LatchkeySystem", "TestSupport"]),
        tests(
            "TerminalPromptLayoutTests",
            ["LatchkeyModel", "LatchkeyPrompts", "LatchkeyWords", "TestSupport"]),
        tests(
            "PromptDriverTests",
            [
                "ChildProcessDrivers", "LatchkeyModel", "LatchkeyPrompts", "LatchkeySeams", "LatchkeySystem",
                "TestSupport",
            ]),
        tests(
            "PAMDriverTests",
            [
                "SensorTestSupport", "FuzzProperties", "ChildProcessDrivers", "LatchkeyModel", "LatchkeySeams",
                "LatchkeySystem", "LatchkeyWire",
                "SimulatedDriver", "SystemDriver", "TestSupport",
            ]),
        tests("LatchkeyCryptoTests", ["LatchkeyCrypto", "LatchkeyModel", "TestSupport"]),
        tests("LatchkeyKeysTests", ["FuzzProperties", "COpenSSL", "LatchkeyCrypto", "LatchkeyModel", "TestSupport"]),
        tests(
            "SSHAgentProtocolTests",
            [
                "FuzzProperties", "KeyFormats", "LatchkeyCrypto", "LatchkeyModel", "LatchkeyWords", "SSHAgent",
                "TestSupport",
            ]),
        tests(
            "SSHAgentTests",
            ["LatchkeyCrypto", "LatchkeyModel", "LatchkeySystem", "LatchkeyWords", "SSHAgent", "TestSupport"]),
        tests("LatchkeyCertificatesTests", ["LatchkeyCertificates"]),
        tests("KeyFormatsTests", ["FuzzProperties", "KeyFormats", "LatchkeyCrypto", "LatchkeyModel", "TestSupport"]),
        tests(
            "SecurityTests",
            [
                "SeamStandIns", "COpenSSL", "KeyFormats", "LatchkeyAuthority", "LatchkeyCertificates", "LatchkeyClient",
                "LatchkeyCrypto", "LatchkeyKeychain", "LatchkeyModel", "LatchkeySeams", "LatchkeyService",
                "LatchkeySimulator", "LatchkeyWire", "LocalAuthentication", "Security", "SimulatedDriver",
                "SQLiteDriver", "SystemDriver", "TestSupport", "TPMDriver",
            ]),
        tests(
            "LocalAuthenticationTests",
            [
                "LatchkeyAuthority", "LatchkeyClient", "LatchkeyKeychain", "LatchkeyModel", "LatchkeySeams",
                "LatchkeyService", "LatchkeySimulator", "LatchkeySystem", "LatchkeyTesting", "LocalAuthentication",
                "Security", "SimulatedDriver", "SQLiteDriver", "SystemDriver", "TestSupport",
            ]),
        tests(
            "LatchkeyKitTests",
            [
                "LatchkeyClient", "LatchkeyKit", "LatchkeyModel", "LatchkeySimulator", "LatchkeyTesting",
                "LocalAuthentication", "Security", "TestSupport",
            ]),
        tests(
            "LatchkeySimulatorTests",
            ["LatchkeySimulator", "LatchkeyTesting", "LocalAuthentication", "Security", "TestSupport"]),
        .testTarget(
            name: "LatchkeyPolicyTests", dependencies: ["LatchkeyModel", "LatchkeyPolicy", "TestPromises"],
            swiftSettings: optimised),
        tests("DeviceAttestationTests", ["LatchkeySimulator", "SecureEnclaveKit", "Security"]),
        tests(
            "LatchkeySignInTests",
            [
                "KeyFormats", "LatchkeyKit", "LatchkeySignIn", "LatchkeySimulator", "LatchkeyTesting",
                "LocalAuthentication", "Security", "TestSupport",
            ]),
        tests("SecureEnclaveKitTests", ["LatchkeySimulator", "LocalAuthentication", "SecureEnclaveKit", "Security"]),
        // The contract of each seam, which every driver fulfils.
        tests(
            "BiometricReaderTests",
            [
                "ChildProcessDrivers", "LatchkeyModel", "LatchkeySeams", "SensorTestSupport", "SimulatedDriver",
                "SystemDriver",
            ]),
        tests(
            "SensorDriverTests",
            [
                "FuzzProperties", "AuthorityDaemon", "ChildProcessDrivers", "LatchkeyModel", "LatchkeySeams",
                "LatchkeySystem",
                "LatchkeyWire", "SensorTestSupport", "SimulatedDriver", "SystemDriver", "TestSupport",
            ]),
        tests(
            "ItemStoreTests",
            ["LatchkeyModel", "LatchkeySeams", "SimulatedDriver", "SQLiteDriver", "SystemDriver", "TestSupport"]),
        tests(
            "KeyVaultTests",
            [
                "LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "SeamStandIns", "SimulatedDriver",
                "SystemDriver", "TestSupport", "TPMDriver", "TPMProtocol",
            ]),
        tests(
            "PrompterTests",
            [
                "ChildProcessDrivers", "LatchkeyModel", "LatchkeyPrompts", "LatchkeySeams", "SimulatedDriver",
                "SystemDriver",
            ]),
        tests(
            "LatchkeyEnclaveTests",
            [
                "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "LatchkeyService", "SeamStandIns",
                "SimulatedDriver", "SoftwareEnclaveDriver", "SystemDriver", "TestSupport",
            ]),
        tests(
            "KeyModuleTests",
            [
                "LatchkeyCrypto", "LatchkeyModel", "LatchkeySeams", "SeamStandIns", "SimulatedDriver",
                "SoftwareEnclaveDriver", "SystemDriver", "TestSupport", "TPMDriver", "TPMProtocol",
            ]),
        tests("PAMProcessTests", ["CPAM", "LatchkeyWire"]),
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
        tests("SystemBusTests", ["BusDrivers"]),
        tests(
            "SecretServiceTests",
            [
                "BusDrivers", "BusTestSupport", "latchkey-secrets", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyModel",
                "LatchkeySystem", "LatchkeyWire", "LatchkeyWords", "TestSupport",
            ]),
        tests(
            "LogindDriverTests",
            [
                "BusDrivers", "BusTestSupport", "ChildProcessDrivers", "latchkey-authd", "LatchkeyModel",
                "LatchkeySeams", "LatchkeySystem", "SensorTestSupport", "SystemDriver", "TestSupport",
            ]),
        tests(
            "FprintDriverTests",
            [
                "BusDrivers", "BusTestSupport", "ChildProcessDrivers", "CSystemd", "latchkey-authd",
                "latchkey-fingerprint", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyWords",
                "SensorTestSupport", "SyntheticFingerprints", "SystemDriver", "TestSupport",
            ]),
    ] + fuzzer,
    swiftLanguageModes: [.v6]
)
#else
// On Apple systems `Security` and `LocalAuthentication` belong to the system, and only the kit is built. The other
// libraries are declared too, for manifests that use them on Linux only: SwiftPM looks a product up before it evaluates
// the condition. Not tested on an Apple system.
let onlyOnLinux = [
    "LocalAuthentication", "Security", "SecureEnclaveKit", "KeyFormats", "DeviceProof", "LatchkeySignIn",
    "LatchkeySimulator", "LatchkeyTesting",
]
let package = Package(
    name: "latchkey",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: (["LatchkeyKit"] + onlyOnLinux).map { .library(name: $0, targets: ["LatchkeyKit"]) }
        + [.plugin(name: "ApplePlatformImports", targets: ["ApplePlatformImports"])],
    targets: [
        target("API/LatchkeyKit"),
        .plugin(name: "ApplePlatformImports", capability: .buildTool(), path: "Sources/Plugins/ApplePlatformImports"),
    ],
    swiftLanguageModes: [.v6]
)
#endif
