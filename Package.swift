// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Each target is a room; its dependencies are the arrows of docs/rooms.md and no others;
// `scripts/check-arrows` compares the two.

let strict: [SwiftSetting] =
    (isDependency ? [] : [.treatAllWarnings(as: .error)]) + [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ]

// SwiftPM compiles dependencies without warnings, but its build system `swiftbuild` keeps this setting, and the
// compiler refuses both: "conflicting options '-warnings-as-errors' and '-suppress-warnings'". Can be removed with
// swift-package-manager#9517. SwiftPM and Xcode both fetch dependencies into a folder named `checkouts`.
var isDependency: Bool { Context.packageDirectory.contains("/checkouts/") }

// The state machine of authentication is also optimised in debug builds of this checkout: its tests enumerate millions of
// transitions, which takes five times as long without.
let optimised: [SwiftSetting] =
    strict + (isDependency ? [] : [.unsafeFlags(["-O"], .when(configuration: .debug))])

func room(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = strict
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func process(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

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
        .library(name: "DeviceAttestation", targets: ["DeviceAttestation"]),
        .library(name: "LatchkeySignIn", targets: ["LatchkeySignIn"]),
        // With the API modules, without which a test of them does not link.
        .library(name: "LatchkeySimulator", targets: ["LatchkeySimulator", "LocalAuthentication", "Security"]),
        .library(name: "LatchkeyTesting", targets: ["LatchkeyTesting", "LocalAuthentication", "Security"]),
        .library(name: "LatchkeyAgent", targets: ["LatchkeyAgent"]),
        .library(name: "LatchkeySettings", targets: ["LatchkeySettings", "LatchkeyWords"]),
        .plugin(name: "ApplePlatformImports", targets: ["ApplePlatformImports"]),
        .executable(name: "latchkeyd", targets: ["latchkeyd"]),
        .executable(name: "latchkey-prompt", targets: ["latchkey-prompt"]),
        .executable(name: "latchkey", targets: ["latchkey"]),
        .executable(name: "latchkey-demo", targets: ["latchkey-demo"]),
    ],
    targets: [
        // C libraries: module maps and static inline shims, no logic.
        .systemLibrary(name: "CLatchkeyLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),

        // Values and formats.
        room("LatchkeyModel", ["CLatchkeyLinux"], optimised),
        room("LatchkeyWire", ["LatchkeyModel"]),
        room("LatchkeyBackup", ["LatchkeyModel", "LatchkeyWire", "LatchkeyCrypto"]),
        room("LatchkeyCrypto", ["LatchkeyModel", "COpenSSL"]),
        room("LatchkeyKeys", ["LatchkeyModel", "COpenSSL"]),
        room("LatchkeyCertificates", ["LatchkeyModel", "LatchkeyKeys", "COpenSSL"]),

        // What both services compute for a TPM: names, digests, session keys. No input or output.
        room("TPMProtocol", ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys"]),

        // The Secure Enclave and the key vault on a TPM.
        room(
            "TPMDriver",
            ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeySystem", "TPMProtocol"]),

        // Public keys in the formats of other standards, for other programs.
        room("KeyFormats", ["LatchkeyModel", "LatchkeyKeys"]),

        // Proofs that a key cannot leave its TPM, for relying parties.
        room(
            "DeviceProof",
            ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeyCertificates", "TPMProtocol"]),

        // The protocol of ssh-agent: messages, session bindings, what may be signed. No input or output.
        room("SSHAgentProtocol", ["LatchkeyModel", "LatchkeyKeys", "LatchkeyWords", "KeyFormats"]),

        // System calls, transport, prompt protocol.
        room("LatchkeySystem", ["LatchkeyModel", "CLatchkeyLinux"]),
        room("LatchkeyTransport", ["LatchkeyModel", "LatchkeySystem", "CLatchkeyLinux"]),
        // Texts for people in other languages: catalogues and how a text is found in them. No input or output.
        room("LatchkeyWords"),

        // The catalogue that is installed and that the user's environment chooses. No service has an arrow here.
        room("InstalledWords", ["LatchkeyWords", "LatchkeySystem"]),

        room("LatchkeyAgentProtocol", ["LatchkeyModel", "LatchkeyWire", "LatchkeyWords"]),

        // Who a calling process is.
        room("LatchkeyIdentity", ["LatchkeyModel", "LatchkeySystem"]),

        // What this machine has and lacks.
        room(
            "LatchkeyDoctor",
            [
                "LatchkeyModel", "LatchkeySystem", "LatchkeyTransport", "LatchkeyClient", "LatchkeyIdentity",
                "PAMProtocol",
            ]),

        // Messages between latchkey-authd and the process that runs PAM.
        room("PAMProtocol", ["LatchkeyModel", "LatchkeyWire"]),

        // Layout of prompts on a terminal.
        room("CommandWords"),
        room("TerminalPromptLayout", ["LatchkeyModel", "LatchkeyAgentProtocol", "LatchkeyWords"]),

        // Engine: no input or output of its own. Its protocols for drivers are LatchkeySeams.
        room("LatchkeyPolicy", ["LatchkeyModel"], optimised),
        room("LatchkeySeams", ["LatchkeyModel", "LatchkeyPolicy"]),
        room(
            "LatchkeyAuthority",
            ["LatchkeyModel", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeyPolicy", "TPMProtocol"]),
        room(
            "LatchkeyKeychain",
            [
                "LatchkeyModel", "LatchkeyWire", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeyPolicy",
            ]),
        room("LatchkeyEnclave", ["LatchkeyModel", "LatchkeySeams", "LatchkeyPolicy"]),
        room(
            "LatchkeyService",
            [
                "LatchkeyModel", "LatchkeyCrypto", "LatchkeySeams", "LatchkeyPolicy", "LatchkeyKeychain",
                "LatchkeyEnclave", "LatchkeyBackup",
            ]),
        room("LatchkeyHost", ["LatchkeyModel", "LatchkeyWire", "LatchkeySeams"]),
        room(
            "AuthorityHost",
            [
                "LatchkeyModel", "LatchkeyCrypto", "LatchkeyWire", "LatchkeyTransport", "LatchkeySeams",
                "LatchkeyPolicy", "LatchkeyAuthority",
            ]),

        // Drivers; they never import each other.
        room("SQLiteDriver", ["LatchkeyModel", "LatchkeySeams", "CSQLite"]),
        room(
            "SystemDriver",
            ["LatchkeyModel", "LatchkeyWire", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeySeams", "LatchkeySystem"]),
        room("SoftwareEnclaveDriver", ["LatchkeyModel", "LatchkeySeams", "LatchkeyCrypto", "LatchkeyKeys"]),
        room("SimulatedDriver", ["LatchkeyModel", "LatchkeySeams", "LatchkeyPolicy"]),
        room(
            "AuthorityDriver",
            [
                "LatchkeyModel", "LatchkeyWire", "LatchkeyCrypto", "LatchkeyTransport", "LatchkeySeams",
                "LatchkeyPolicy",
            ]),
        room(
            "PromptDriver",
            [
                "LatchkeyModel", "LatchkeySeams", "LatchkeyAgentProtocol", "LatchkeyTransport", "LatchkeySystem",
                "TerminalPromptLayout",
            ]),

        // Passwords of accounts; libpam is in the program latchkey-pam of the package System.
        room(
            "PAMDriver",
            ["LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire", "PAMProtocol"]),

        // Sensors and login sessions of tier user: the messages, the process that speaks to them, and its client.
        room("SensorProtocol", ["LatchkeyModel", "LatchkeyWire", "LatchkeySeams"]),
        room(
            "SensorHost", ["LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "SensorProtocol"]),
        room(
            "SensorDriver",
            ["LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "SensorProtocol"]),

        // Client and API.
        room("LatchkeyClient", ["LatchkeyModel", "LatchkeyWire", "LatchkeySystem", "LatchkeyTransport"]),
        room(
            "Security",
            [
                "LatchkeyModel", "LatchkeySystem", "LatchkeyClient", "LatchkeyCrypto", "LatchkeyKeys",
                "LatchkeyCertificates",
            ]),
        room("LocalAuthentication", ["LatchkeyModel", "LatchkeyClient", "Security"]),

        // An agent of ssh(1) with keys of the enclave.
        room(
            "SSHAgent",
            [
                "LatchkeyModel", "LatchkeyKeys", "LatchkeyCrypto", "LatchkeySystem", "LatchkeyTransport",
                "LatchkeyWords", "LatchkeyClient", "SSHAgentProtocol",
            ]),

        // Helpers for apps on the two API modules; also builds on Apple systems.
        room("LatchkeyKit", ["LocalAuthentication", "Security"]),

        // Keys of the Secure Enclave in CryptoKit's shape.
        room("SecureEnclaveKit", ["Security", "LocalAuthentication"]),

        // Proofs to relying parties that a key cannot leave this device.
        room("DeviceAttestation", ["Security"]),

        // Signing in to relying parties with a key of the enclave. The only room that links FoundationNetworking.
        room(
            "LatchkeySignIn",
            [
                "KeyFormats", "LatchkeyClient", "LatchkeyKeys", "LatchkeyKit", "LatchkeyModel", "LocalAuthentication",
                "Security",
            ]),

        // API for a program that shows prompts in a window.
        room(
            "LatchkeyAgent",
            [
                "LatchkeyModel", "LatchkeyWire", "LatchkeySystem", "LatchkeyTransport", "LatchkeyClient",
                "LatchkeyAgentProtocol", "LatchkeyWords", "InstalledWords",
            ]),

        // API for a program with which the user controls their keychain.
        room(
            "LatchkeySettings",
            [
                "LatchkeyModel", "LatchkeySystem", "LatchkeyTransport", "LatchkeyClient", "LatchkeyDoctor",
                "LatchkeyWords",
                "InstalledWords",
            ]),

        // Re-exports in a target what `import Foundation` brings on Apple systems.
        .plugin(name: "ApplePlatformImports", capability: .buildTool()),

        // Test kit.
        room(
            "LatchkeySimulator",
            [
                "LatchkeyModel", "LatchkeySeams", "LatchkeyAuthority", "LatchkeyHost", "LatchkeyService",
                "LatchkeyKeychain", "LatchkeyClient", "SQLiteDriver", "SimulatedDriver",
                "SystemDriver",
                "SoftwareEnclaveDriver",
            ]),

        room("LatchkeyTesting", ["LatchkeySimulator"]),

        // What all daemons do when they start and end.
        room(
            "DaemonProcess",
            ["CLatchkeyLinux", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport"]),

        // The service that authenticates users. Its program is in the package System, because it links libsystemd; the
        // one with a scripted sensor, for tests, is here.
        room(
            "AuthorityDaemon",
            [
                "DaemonProcess", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport",
                "LatchkeyIdentity", "LatchkeyAuthority", "AuthorityHost", "PAMDriver", "PromptDriver", "SensorDriver",
                "SensorHost", "SystemDriver", "TPMDriver",
            ]),
        process(
            "latchkey-authd-testing",
            [
                "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "AuthorityDaemon", "SimulatedDriver",
                "SystemDriver",
            ]),

        // Programs. Only they and the test kit name concrete drivers.
        process(
            "latchkeyd",
            [
                "DaemonProcess", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport",
                "LatchkeyClient", "LatchkeyIdentity", "LatchkeyHost", "LatchkeyAuthority", "AuthorityDriver",
                "LatchkeyService",
                "LatchkeyKeychain", "SQLiteDriver", "SimulatedDriver", "SystemDriver",
                "SensorDriver", "SoftwareEnclaveDriver", "PromptDriver", "TPMDriver",
            ]),
        process(
            "latchkey-prompt",
            [
                "LatchkeyModel", "LatchkeyAgentProtocol", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire",
                "TerminalPromptLayout", "LatchkeyWords", "InstalledWords",
            ]),
        process(
            "latchkey",
            [
                "CommandWords", "DaemonProcess", "DeviceProof", "KeyFormats", "LatchkeyCrypto", "LatchkeyKeys",
                "LatchkeyModel",
                "LatchkeyClient", "LatchkeyDoctor", "LatchkeySeams", "LatchkeySettings", "LatchkeySystem",
                "LatchkeyTransport", "LatchkeyWords", "InstalledWords", "SSHAgent", "SSHAgentProtocol", "SystemDriver",
                "TerminalPromptLayout", "TPMDriver",
            ]),
        process(
            "latchkey-demo",
            ["Security", "LocalAuthentication", "LatchkeyClient", "LatchkeyModel", "LatchkeySystem"]),

        // Tests: one target for each room or seam, and DaemonTests for several processes.
        .executableTarget(
            name: "latchkey-test-client",
            dependencies: [
                "DeviceAttestation", "Security", "LocalAuthentication", "LatchkeyAgent", "LatchkeyClient",
                "LatchkeyModel", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire",
            ],
            path: "Tests/TestClient", swiftSettings: strict),
        // Shared by several test targets; includes the lists of Apple's symbols and of this package's symbols.
        .target(
            name: "TestSupport", dependencies: ["CLatchkeyLinux", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySystem"],
            path: "Tests/TestSupport", swiftSettings: strict),
        // The process of the sensors of tier user, on a thread of a test.
        .target(
            name: "SensorTestSupport",
            dependencies: [
                "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "SensorDriver", "SensorHost",
            ],
            path: "Tests/SensorTestSupport", swiftSettings: strict),
        // Stand-ins for drivers of hardware; shared by several test targets.
        .target(
            name: "SeamStandIns", dependencies: ["LatchkeyModel", "LatchkeySeams"], path: "Tests/SeamStandIns",
            swiftSettings: strict),
        tests(
            "DaemonTests",
            [
                "CLatchkeyLinux", "DaemonProcess", "DeviceProof", "LatchkeyAgentProtocol", "LatchkeyClient",
                "LatchkeyHost",
                "LatchkeyKeychain", "LatchkeyKeys", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem",
                "LatchkeyTransport", "LatchkeyWire", "LatchkeyWords", "PromptDriver", "SQLiteDriver", "SystemDriver",
                "TPMDriver",
                "latchkeyd", "latchkey-authd-testing", "latchkey-prompt", "latchkey", "latchkey-demo",
                "latchkey-test-client", "TestSupport",
            ], exclude: ["Forge", "Scripts"]),
        tests("LatchkeyTransportTests", ["LatchkeyModel", "LatchkeySystem", "LatchkeyTransport", "TestSupport"]),
        tests(
            "LatchkeyClientTests",
            ["LatchkeyClient", "LatchkeyModel", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire", "TestSupport"]),
        tests("LatchkeySystemTests", ["LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests(
            "LatchkeyServiceTests",
            [
                "LatchkeyAuthority", "LatchkeyClient", "LatchkeyHost", "LatchkeyKeychain", "LatchkeyModel",
                "LatchkeySeams", "LatchkeyService", "LatchkeyWire", "LatchkeyPolicy",
                "SQLiteDriver", "SeamStandIns", "SimulatedDriver", "SoftwareEnclaveDriver", "SystemDriver",
            ]),
        tests(
            "LatchkeyKeychainTests",
            [
                "LatchkeyKeychain", "LatchkeyModel", "LatchkeyWire", "LatchkeyCrypto", "LatchkeySeams",
                "LatchkeyAuthority", "LatchkeyHost", "LatchkeyPolicy", "LatchkeyService", "SQLiteDriver", "CSQLite",
                "SeamStandIns", "SystemDriver", "SimulatedDriver", "TPMDriver", "TestSupport",
            ]),
        tests("SQLiteDriverTests", ["LatchkeyModel", "LatchkeySeams", "SQLiteDriver", "TestSupport"]),
        tests("SystemDriverTests", ["LatchkeyModel", "LatchkeySeams", "SystemDriver", "TestSupport"]),
        tests("LatchkeyModelTests", ["LatchkeyModel"]),
        tests(
            "AuthorityHostTests",
            [
                "AuthorityDaemon", "AuthorityHost", "AuthorityDriver", "LatchkeyAuthority", "LatchkeyCrypto",
                "LatchkeyService", "LatchkeyKeychain", "LatchkeyPolicy", "LatchkeySeams", "LatchkeyModel",
                "LatchkeySystem", "LatchkeyWire", "SQLiteDriver", "SeamStandIns", "SystemDriver", "SimulatedDriver",
                "TPMDriver",
                "TPMProtocol", "TestSupport",
            ]),
        tests(
            "LatchkeyDoctorTests",
            [
                "LatchkeyClient", "LatchkeyDoctor", "LatchkeyIdentity", "LatchkeyModel", "LatchkeySystem",
                "LatchkeyTransport", "TestSupport",
            ]),
        tests("LatchkeyIdentityTests", ["LatchkeyIdentity", "LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests(
            "TPMProtocolTests",
            ["TPMProtocol", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests(
            "DeviceProofTests",
            [
                "DeviceProof", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem",
                "SimulatedDriver", "SystemDriver", "TPMDriver", "TPMProtocol", "TestSupport",
            ], exclude: ["check-proof.py"]),
        tests("LatchkeyBackupTests", ["LatchkeyBackup", "LatchkeyCrypto", "LatchkeyModel", "TestSupport"]),
        tests("LatchkeyWireTests", ["LatchkeyWire", "LatchkeyModel", "LatchkeyAgentProtocol", "TestSupport"]),
        tests("LatchkeyWordsTests", ["LatchkeyWords", "TestSupport"]),
        tests(
            "LatchkeySettingsTests",
            ["LatchkeySettings", "LatchkeyDoctor", "LatchkeyModel", "LatchkeySystem", "TestSupport"]),
        tests("LatchkeyAgentTests", ["LatchkeyAgent", "LatchkeyAgentProtocol", "LatchkeyModel"]),
        tests(
            "TerminalPromptLayoutTests",
            ["TerminalPromptLayout", "LatchkeyAgentProtocol", "LatchkeyModel", "LatchkeyWords", "TestSupport"]),
        tests(
            "PromptDriverTests",
            [
                "PromptDriver", "LatchkeyAgentProtocol", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem",
                "TestSupport",
            ]),
        tests(
            "PAMDriverTests",
            [
                "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire", "PAMDriver",
                "PAMProtocol", "SimulatedDriver", "SystemDriver", "TestSupport",
            ]),
        tests("LatchkeyCryptoTests", ["LatchkeyCrypto", "LatchkeyModel", "TestSupport"]),
        tests("LatchkeyKeysTests", ["LatchkeyKeys", "LatchkeyModel", "COpenSSL", "TestSupport"]),
        tests(
            "SSHAgentProtocolTests",
            ["SSHAgentProtocol", "KeyFormats", "LatchkeyKeys", "LatchkeyModel", "LatchkeyWords", "TestSupport"]),
        tests(
            "SSHAgentTests",
            [
                "SSHAgent", "SSHAgentProtocol", "LatchkeyKeys", "LatchkeyModel", "LatchkeySystem", "LatchkeyWords",
                "TestSupport",
            ]),
        tests("LatchkeyCertificatesTests", ["LatchkeyCertificates"]),
        tests("KeyFormatsTests", ["KeyFormats", "LatchkeyKeys", "LatchkeyModel", "TestSupport"]),
        tests(
            "SecurityTests",
            [
                "Security", "LocalAuthentication", "LatchkeySimulator", "LatchkeyClient", "LatchkeyModel",
                "LatchkeyKeys", "LatchkeyCertificates", "KeyFormats", "COpenSSL", "TestSupport",
                "LatchkeyWire", "LatchkeySeams", "LatchkeyAuthority", "LatchkeyHost", "LatchkeyService",
                "LatchkeyKeychain", "SQLiteDriver", "SystemDriver", "SimulatedDriver", "TPMDriver",
            ]),
        tests(
            "LocalAuthenticationTests",
            [
                "LocalAuthentication", "Security", "LatchkeySimulator", "LatchkeyTesting", "LatchkeyClient",
                "LatchkeySystem", "LatchkeyModel", "LatchkeySeams", "LatchkeyAuthority", "LatchkeyHost",
                "LatchkeyService", "LatchkeyKeychain",
                "SQLiteDriver", "SystemDriver", "SimulatedDriver", "TestSupport",
            ]),
        tests(
            "LatchkeyKitTests",
            ["LatchkeyKit", "LocalAuthentication", "Security", "LatchkeySimulator", "LatchkeyTesting", "TestSupport"]),
        tests(
            "LatchkeySimulatorTests",
            ["LatchkeySimulator", "LatchkeyTesting", "Security", "LocalAuthentication", "TestSupport"]),
        .testTarget(
            name: "LatchkeyPolicyTests", dependencies: ["LatchkeyPolicy", "LatchkeyModel"], swiftSettings: optimised),
        tests("DeviceAttestationTests", ["DeviceAttestation", "Security", "LatchkeySimulator"]),
        tests(
            "LatchkeySignInTests",
            [
                "LatchkeySignIn", "KeyFormats", "LatchkeyKit", "LatchkeySimulator", "LatchkeyTesting",
                "LocalAuthentication", "Security", "TestSupport",
            ]),
        tests("SecureEnclaveKitTests", ["SecureEnclaveKit", "Security", "LocalAuthentication", "LatchkeySimulator"]),
        // The contract of each seam, which every driver fulfils.
        tests(
            "BiometricReaderTests",
            [
                "LatchkeyModel", "LatchkeySeams", "SensorDriver", "SensorTestSupport", "SimulatedDriver",
                "SystemDriver",
            ]),
        tests(
            "SensorDriverTests",
            [
                "LatchkeyModel", "LatchkeySeams", "LatchkeySystem", "LatchkeyTransport", "LatchkeyWire",
                "SensorDriver", "SensorHost", "SensorProtocol", "SensorTestSupport", "SimulatedDriver", "SystemDriver",
                "TestSupport",
            ]),
        tests(
            "ItemStoreTests",
            ["LatchkeyModel", "LatchkeySeams", "SQLiteDriver", "SimulatedDriver", "SystemDriver", "TestSupport"]),
        tests(
            "KeyVaultTests",
            [
                "SystemDriver", "LatchkeyCrypto", "LatchkeyKeys", "LatchkeyModel", "LatchkeySeams", "LatchkeySystem",
                "SeamStandIns", "SimulatedDriver", "TPMDriver", "TPMProtocol", "TestSupport",
            ]),
        tests(
            "PrompterTests",
            [
                "PromptDriver", "LatchkeyAgentProtocol", "LatchkeyModel", "LatchkeySeams", "SimulatedDriver",
                "SystemDriver",
            ]),
        tests(
            "LatchkeyEnclaveTests",
            [
                "LatchkeyEnclave", "LatchkeyModel", "LatchkeyPolicy", "LatchkeySeams", "SeamStandIns",
                "SimulatedDriver", "SoftwareEnclaveDriver", "SystemDriver", "TestSupport",
            ]),
        tests(
            "KeyModuleTests",
            [
                "LatchkeyKeys", "LatchkeyModel", "LatchkeySeams", "SeamStandIns", "SimulatedDriver",
                "SoftwareEnclaveDriver", "SystemDriver", "TPMDriver", "TPMProtocol", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
#else
// On Apple systems `Security` and `LocalAuthentication` belong to the system, and only the kit is built. The other
// libraries are declared too, for manifests that use them on Linux only: SwiftPM looks a product up before it evaluates
// the condition. Not tested on an Apple system.
let onlyOnLinux = [
    "LocalAuthentication", "Security", "SecureEnclaveKit", "KeyFormats", "DeviceProof", "DeviceAttestation",
    "LatchkeyAgent", "LatchkeySignIn", "LatchkeySimulator", "LatchkeyTesting",
]
let package = Package(
    name: "latchkey",
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: (["LatchkeyKit"] + onlyOnLinux).map { .library(name: $0, targets: ["LatchkeyKit"]) }
        + [.plugin(name: "ApplePlatformImports", targets: ["ApplePlatformImports"])],
    targets: [
        room("LatchkeyKit"),
        .plugin(name: "ApplePlatformImports", capability: .buildTool()),
    ],
    swiftLanguageModes: [.v6]
)
#endif
