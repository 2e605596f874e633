// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyHost
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import LocalAuthentication
import Security
import Testing

@testable import LatchkeySimulator

/// Each way in which a request can end, met from a public function.
@Suite struct StatusReachTests {
    /// How an app meets it.
    private enum Way {
        /// The real engine answers so.
        case engine((SpyChannel.Record) throws -> OSStatus)
        /// The module itself refuses, before or after it speaks to an engine.
        case library((SpyChannel.Record) throws -> OSStatus)
        /// Nothing in a test's process provokes it, for the reason given: an engine that is none answers so.
        case scripted(String)
    }

    private static var item: Query { .password("account") }

    /// A simulated machine whose answers are seen; calls within `body` go there.
    private static func machine(
        _ record: SpyChannel.Record, passcode: String? = "1234", sensor: Simulator.Sensor = .touchID,
        isEnrolled: Bool = true, hasSecureEnclave: Bool = true, _ body: (Simulator) throws -> OSStatus
    ) throws -> OSStatus {
        let simulator = try Simulator(
            sensor: sensor, isEnrolled: isEnrolled, passcode: passcode, hasSecureEnclave: hasSecureEnclave)
        let machine = simulator.machine
        let client = Client(application: "app", faceUsage: "tests") {
            SpyChannel(machine.connect("app"), record)
        }
        return try ClientScope.$world.withValue(client) { try body(simulator) }
    }

    /// The same with a protected item on it.
    private static func protected(
        _ flags: SecAccessControlCreateFlags, passcode: String? = "1234", _ record: SpyChannel.Record,
        _ body: (Simulator) throws -> OSStatus
    ) throws -> OSStatus {
        try machine(record, passcode: passcode) { simulator in
            #expect(add(item.secret().under(flags)) == errSecSuccess)
            return try body(simulator)
        }
    }

    private static func edited(
        _ identity: StoreIdentityKind, _ record: SpyChannel.Record, _ edit: (EditedStore) throws -> Void = { _ in }
    ) throws -> OSStatus {
        let store = try EditedStore(identity.identity)
        try edit(store)
        return try store.run(record) { exists(item) }
    }

    /// What an engine that is none answers.
    private static func scripted(_ answer: @escaping @Sendable (UInt64) -> SecretBytes) throws -> OSStatus {
        let client = Client(application: "app") { ScriptedChannel(answer) }
        return ClientScope.$world.withValue(client) { exists(item) }
    }

    private static func way(to status: Status) -> Way {
        switch status {
        case .malformedRequest:
            .library { _ in try scripted { _ in SecretBytes([0xff]) } }
        case .unsupportedVersion:
            .library { _ in
                try scripted { _ in Message.reply(id: 0, .failure(Failure(.unsupportedVersion))).encoded() }
            }
        case .limitExceeded:
            .engine { record in
                try machine(record) { _ in
                    let contexts = (0...Limits.contexts).map { _ in LAContext() }
                    return contexts.map { exists(item.with(kSecUseAuthenticationContext, $0)) }.last ?? 0
                }
            }
        case .timedOut:
            .engine { record in
                let store = try EditedStore()
                return try store.run(record) { try store.whileWriting { add(item.secret()) } }
            }
        case .internalFailure:
            .library { _ in try scripted { id in Message.reply(id: id, .done).encoded() } }
        case .unimplemented: .scripted("a daemon that is older than the library")
        case .notPermitted: .scripted("only `simulate` and `transcript` are refused so")
        case .cancelled: .scripted("no request of an item ends so: a person's cancel is userCancel")
        case .daemonUnavailable: .scripted("looking for a daemon takes the process's environment: StartTests does")
        case .noHome: .scripted("it is the process's environment that says so")
        case .peerNotTrusted: .scripted("it takes a socket of another user")
        case .storeUnreadable:
            .engine { record in
                try edited(.own, record) { try $0.write(["keychain.sqlite": Data("not a database".utf8)]) }
            }
        case .storeOfAnotherTier: .engine { record in try edited(.otherTier, record) }
        case .storeOfAnotherUser: .engine { record in try edited(.otherUser, record) }
        case .storeNewer: .engine { record in try edited(.own, record) { try $0.setHeaderByte(63, 99) } }
        case .storeOlder: .engine { record in try edited(.own, record) { try $0.setHeaderByte(63, 1) } }
        case .anchorMissing, .anchorOld, .eventUnfinished: .scripted("files of the engine: the tests of its anchor")
        case .storeRolledBack:
            .engine { record in
                try edited(.own, record) { store in
                    let old = try store.files().filter { $0.key.hasPrefix("keychain.sqlite") }
                    try store.follow(EnrolmentSet([7]))
                    try store.write(old)
                }
            }
        // A write version that SQLite does not know makes a file that it only reads.
        case .storeReadOnly:
            .engine { record in
                let store = try EditedStore()
                try store.setHeaderByte(18, 9)
                return try store.run(record) { add(item.secret()) }
            }
        case .diskFull:
            // The real ones, at every write, are in FaultTests of the keychain.
            .engine { record in
                try machine(record) { simulator in
                    try simulator.failNext(.diskFull)
                    return add(item.secret())
                }
            }
        case .invalidParameter: .library { record in try machine(record) { _ in exists([:]) } }
        case .noSuchClass:
            .library { record in try machine(record) { _ in exists([kSecClass as String: "none"]) } }
        case .noSuchAttribute:
            .library { record in try machine(record) { _ in add(item.with(kSecAttrServer, "server")) } }
        case .duplicateItem:
            .engine { record in
                try machine(record) { _ in
                    #expect(add(item.secret()) == errSecSuccess)
                    return add(item.secret())
                }
            }
        case .itemNotFound: .engine { record in try machine(record) { _ in exists(item) } }
        case .missingEntitlement:
            .engine { record in try machine(record) { _ in exists(item.with(kSecAttrAccessGroup, "other")) } }
        case .dataTooLarge:
            .engine { record in
                try machine(record) { _ in add(item.with(kSecValueData, Data(count: Limits.secretBytes + 1))) }
            }
        case .exportNotAllowed:
            .library { record in
                try machine(record) { _ in
                    _ = try makeKey(enclaveParameters())
                    return find(Query.key().data).status
                }
            }
        // Its code for an app is one of another domain: `withoutPrivateKeyUsageNothingIsSigned_SE02`.
        case .keyUsageNotAllowed:
            .engine { record in
                try machine(record) { _ in
                    let key = try makeKey(enclaveParameters(.userPresence))
                    #expect(errorOfSigning(key)?.code == -1009)
                    return errSecAuthFailed
                }
            }
        case .enclaveUnavailable:
            .engine { record in
                try machine(record, hasSecureEnclave: false) { _ in try statusOfMaking(enclaveParameters()) }
            }
        case .interactionNotAllowed:
            .engine { record in
                try protected(.userPresence, record) { _ in
                    exists(item.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail))
                }
            }
        case .notInteractive:
            .engine { record in
                try protected(.userPresence, record) { simulator in
                    try simulator.setInBackground(true)
                    return exists(item)
                }
            }
        case .itemAuthenticationFailed:
            .engine { record in
                try machine(record) { _ in
                    let (right, wrong) = (LAContext(), LAContext())
                    #expect(right.setCredential(Data([1]), type: .applicationPassword))
                    #expect(wrong.setCredential(Data([2]), type: .applicationPassword))
                    let first = item.secret().under(.applicationPassword)
                    #expect(add(first.with(kSecUseAuthenticationContext, right)) == errSecSuccess)
                    return exists(item.with(kSecUseAuthenticationContext, wrong))
                }
            }
        case .passcodeClassUnavailable:
            .engine { record in
                try machine(record, passcode: nil) { _ in
                    add(item.with(kSecAttrAccessible, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly))
                }
            }
        case .enrolmentBindingUnavailable:
            .engine { record in
                try EditedStore.run(keychain: .success(try EditedStore.memory()), reader: SilentReader(), record) {
                    add(item.secret().under(.biometryCurrentSet))
                }
            }
        case .authenticationFailed:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    for _ in 0..<3 { simulator.touch(matching: false) }
                    return exists(item)
                }
            }
        case .userCancel:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    simulator.cancel()
                    return exists(item)
                }
            }
        case .userFallback:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    simulator.touch(matching: false)
                    simulator.chooseFallback()
                    // Offered because the app gave it a title.
                    let context = LAContext()
                    context.localizedFallbackTitle = "Use Password"
                    return exists(item.with(kSecUseAuthenticationContext, context))
                }
            }
        case .systemCancel:
            .engine { record in
                // A prompt that is killed.
                try prompted(record, exists(item)) { $0(.lost) }
            }
        case .passcodeNotSet:
            .engine { record in
                try protected(.devicePasscode, passcode: nil, record) { _ in exists(item) }
            }
        case .biometryNotAvailable:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    try simulator.connect(.none)
                    return exists(item)
                }
            }
        case .biometryNotEnrolled:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    try simulator.unenrol()
                    return exists(item)
                }
            }
        case .biometryLockout:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    for _ in 0..<5 { simulator.touch(matching: false) }
                    for _ in 0..<2 { #expect(exists(item) == errSecAuthFailed) }
                    return exists(item)
                }
            }
        case .appCancel:
            .engine { record in
                let asking = AskingContext()
                return try prompted(record, asking.exists(item)) { _ in
                    Thread.detachNewThread { asking.context?.invalidate() }
                }
            }
        case .invalidContext:
            .library { record in
                try protected(.biometryAny, record) { _ in
                    let context = LAContext()
                    context.invalidate()
                    return exists(item.with(kSecUseAuthenticationContext, context))
                }
            }
        case .passcodeDelayed: .scripted("a delay that outlasts the prompt; see PasscodeTriesTests")
        case .companionNotAvailable: .scripted("only a policy of an LAContext asks for a companion alone")
        case .biometryNotPaired: .scripted("no sensor of ours is paired")
        case .biometryDisconnected: .scripted("no sensor of ours is paired")
        case .invalidDimensions: .scripted("no prompt of ours is embedded in a window")
        }
    }

    @Test(arguments: Status.allCases) func isMetFromAPublicFunction_LA42(status: Status) throws {
        let record = SpyChannel.Record()
        switch Self.way(to: status) {
        case .engine(let call):
            #expect(try call(record) == status.osStatus)
            #expect(record.last == status, "and for no other reason")
        case .library(let call):
            #expect(try call(record) == status.osStatus)
        case .scripted(let reason):
            #expect(!reason.isEmpty)
            let given = try Self.scripted { id in Message.reply(id: id, .failure(Failure(status))).encoded() }
            #expect(given == status.osStatus)
        }
    }

    @Test func everyNumberButThoseOfOtherProgramsIsMetWithTheRealEngine() {
        var met: Set<OSStatus> = []
        var scripted: Set<OSStatus> = []
        for status in Status.allCases {
            if case .scripted = Self.way(to: status) {
                scripted.insert(status.osStatus)
            } else {
                met.insert(status.osStatus)
            }
        }
        // -25291 is met by a store that another program holds, and where there is no enclave.
        #expect(scripted.subtracting(met).isEmpty)
    }
}

extension StatusReachTests {
    fileprivate enum StoreIdentityKind {
        case own, otherTier, otherUser
    }

    /// Reads a protected item; `shown` is called as soon as its prompt is up.
    fileprivate static func prompted(
        _ record: SpyChannel.Record, _ read: @autoclosure () -> OSStatus,
        shown: @escaping @Sendable (@Sendable (PromptEvent) -> Void) -> Void
    ) throws -> OSStatus {
        try EditedStore.run(keychain: .success(EditedStore.memory()), prompter: ActingPrompter(shown), record) {
            #expect(add(item.secret().under(.biometryAny)) == errSecSuccess)
            return read()
        }
    }
}

/// A prompt that something happens to as soon as it is up.
private final class ActingPrompter: Prompter {
    private let shown: @Sendable (@Sendable (PromptEvent) -> Void) -> Void

    init(_ shown: @escaping @Sendable (@Sendable (PromptEvent) -> Void) -> Void) { self.shown = shown }

    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        events(.visible)
        shown(events)
    }
    func update(_ id: UInt64, _ content: PromptContent) {}
    func dismiss(_ id: UInt64) {}
}

/// A context that is made within a world and invalidated from another thread.
private final class AskingContext: @unchecked Sendable {
    // Set before the prompt comes up that reads it.
    var context: LAContext?

    func exists(_ query: Query) -> OSStatus {
        let context = LAContext()
        self.context = context
        return SecurityTests.exists(query.with(kSecUseAuthenticationContext, context))
    }
}

extension StatusReachTests.StoreIdentityKind {
    fileprivate var identity: StoreIdentity {
        switch self {
        case .own: StoreIdentity(tier: .simulated, userID: 1000, passcodeCost: 10)
        case .otherTier: StoreIdentity(tier: .user, userID: 1000, passcodeCost: 10)
        case .otherUser: StoreIdentity(tier: .simulated, userID: 1001, passcodeCost: 10)
        }
    }
}

/// A sensor that does not tell when its enrolled set changes.
private final class SilentReader: BiometricReader {
    let state = SensorState(kind: .touchID, enrolment: EnrolmentSet([1]), reportsEnrolmentChanges: false)
    func arm(_ evaluation: UInt64, events: @escaping @Sendable (SensorEvent) -> Void) { events(.failed) }
    func disarm(_ evaluation: UInt64) {}
    func observe(_ changed: @escaping @Sendable () -> Void) {}
}
