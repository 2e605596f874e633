// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeyWire
import LocalAuthentication
import Security
import TestSupport
import Testing

@testable import LatchkeySimulator

/// Produces every status with a public function and checks the code that the app receives.
@Suite struct StatusReachTests {
    /// The source of a status.
    private enum Way {
        /// The real engine replies with the status.
        case engine((SpyChannel.Record) throws -> OSStatus)
        /// The module itself produces the status, before or after it contacts the engine.
        case library((SpyChannel.Record) throws -> OSStatus)
        /// A scripted channel replies with the status, because the test process cannot provoke it; the text is the
        /// reason.
        case scripted(String)
    }

    private static var item: Query { .password("account") }

    /// Calls `body` with a simulated machine whose replies are recorded; keychain calls in `body` use that machine.
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

    /// Calls `body` with such a machine on which one protected item exists.
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

    /// The status of a call that a scripted channel answers.
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
        case .unimplemented: .scripted("requires a daemon older than the library")
        case .notPermitted: .scripted("only `simulate` and `transcript` return it")
        case .cancelled: .scripted("no item request returns it: the user's cancel is userCancel")
        case .daemonUnavailable: .scripted("depends on the process environment; see StartTests")
        case .noHome: .scripted("depends on the process environment")
        case .peerNotTrusted: .scripted("requires a socket of another user")
        case .storeUnreadable:
            .engine { record in
                try edited(.own, record) { try $0.write(["keychain.sqlite": Data("not a database".utf8)]) }
            }
        case .storeOfAnotherTier: .engine { record in try edited(.otherTier, record) }
        case .storeOfAnotherUser: .engine { record in try edited(.otherUser, record) }
        case .storeOfEarlierAccount: .scripted("requires a tier with two services; see EarlierAccountTests")
        case .storeNewer: .engine { record in try edited(.own, record) { try $0.setHeaderByte(63, 99) } }
        case .storeOlder: .engine { record in try edited(.own, record) { try $0.setHeaderByte(63, 0) } }
        case .anchorMissing, .anchorOld, .eventUnfinished: .scripted("depends on files of the engine; see AnchorTests")
        case .rootKeyMissing, .vaultUnavailable: .scripted("the store does not open; see KeyVaultContract")
        case .tpmReplaced, .anchorGone: .scripted("no driver has a counter; see StoreCounterTests")
        case .storeRolledBack:
            .engine { record in
                try edited(.own, record) { store in
                    let old = try store.files().filter { $0.key.hasPrefix("keychain.sqlite") }
                    try store.apply(EnrolmentSet([7]))
                    try store.write(old)
                }
            }
        // SQLite opens a file with an unknown write version read-only.
        case .storeReadOnly:
            .engine { record in
                let store = try EditedStore()
                try store.setHeaderByte(18, 9)
                return try store.run(record) { add(item.secret()) }
            }
        case .diskFull:
            // FaultTests of the keychain provoke a full disk at every write.
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
        // The app receives a code of another domain; see `withoutPrivateKeyUsageNothingIsSigned_SE02`.
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
                    // The fallback is offered because the app set a title.
                    let context = LAContext()
                    context.localizedFallbackTitle = "Use Password"
                    return exists(item.with(kSecUseAuthenticationContext, context))
                }
            }
        case .systemCancel:
            .engine { record in
                // The prompt process is killed.
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
                    try simulator.unenroll()
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
        case .passcodeDelayed: .scripted("requires a delay longer than the prompt; see PasscodeTriesTests")
        case .promptDelayed: .scripted("only prompts of the Secret Service are delayed; see SecretPromptsTests")
        case .interrupted: .scripted("requires the terminal of a prompt; see test_screen.py")
        case .companionNotAvailable: .scripted("only a policy of an LAContext requires a companion alone")
        case .biometryNotPaired: .scripted("no supported sensor is paired")
        case .biometryDisconnected:
            .engine { record in
                try protected(.biometryAny, record) { simulator in
                    simulator.unplugSensor()
                    return exists(item)
                }
            }
        case .invalidDimensions: .scripted("no prompt is embedded in a window")
        }
    }

    @Test(arguments: Status.allCases) func everyStatusIsReachableThroughThePublicAPI_LA42(status: Status) throws {
        let record = SpyChannel.Record()
        switch Self.way(to: status) {
        case .engine(let call):
            #expect(try call(record) == status.osStatus)
            #expect(record.last == status, "with exactly this status")
        case .library(let call):
            #expect(try call(record) == status.osStatus)
        case .scripted(let reason):
            #expect(!reason.isEmpty)
            let given = try Self.scripted { id in Message.reply(id: id, .failure(Failure(status))).encoded() }
            #expect(given == status.osStatus)
        }
    }

    @Test func invalidatingAContextEndsTheReadThatWaitsForItsPrompt_LA42() throws {
        let record = SpyChannel.Record()
        let asking = AskingContext()
        let status = try Self.prompted(record, asking.exists(Self.item)) { _ in
            Thread.detachNewThread { asking.context?.invalidate() }
        }
        #expect(status == -25293)
        #expect(record.last == .appCancel)
    }

    @Test func invalidatingAContextEndsTheUseOfAKeyThatWaitsForItsPrompt_LA42() throws {
        let record = SpyChannel.Record()
        let asking = AskingContext()
        let prompter = ActingPrompter { _ in
            Thread.detachNewThread { asking.context?.invalidate() }
        }
        let error = try EditedStore.run(keychain: .success(EditedStore.memory()), prompter: prompter, record) {
            _ = try makeKey(enclaveParameters([.privateKeyUsage, .biometryAny]))
            return try asking.errorOfSigning()
        }
        #expect(error?.domain == authenticationDomain)
        #expect(error?.code == LAError.Code.appCancel.rawValue)
        #expect(record.last == .appCancel)
    }

    @Test func everyScriptedCodeIsAlsoReachedWithTheRealEngine() {
        var met: Set<OSStatus> = []
        var scripted: Set<OSStatus> = []
        for status in Status.allCases {
            if case .scripted = Self.way(to: status) {
                scripted.insert(status.osStatus)
            } else {
                met.insert(status.osStatus)
            }
        }
        // A store held by another program and a machine without an enclave both return -25291.
        #expect(scripted.subtracting(met).isEmpty)
    }
}

extension StatusReachTests {
    fileprivate enum StoreIdentityKind {
        case own, otherTier, otherUser
    }

    /// Reads a protected item; calls `shown` as soon as its prompt is visible.
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

/// A prompter that calls an action as soon as a prompt is visible.
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

/// A context that is created in the client scope of the test and invalidated from another thread.
private final class AskingContext: @unchecked Sendable {
    // Written before the prompt is shown whose action reads it.
    var context: LAContext?

    func exists(_ query: Query) -> OSStatus {
        let context = LAContext()
        self.context = context
        return SecurityTests.exists(query.with(kSecUseAuthenticationContext, context))
    }

    func errorOfSigning() throws -> NSError? {
        let context = LAContext()
        self.context = context
        return SecurityTests.errorOfSigning(try findKey(Query.key().with(kSecUseAuthenticationContext, context)))
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

/// A sensor that does not report changes of its enrolment set.
private final class SilentReader: BiometricReader {
    func state(for user: UInt32) -> SensorState {
        SensorState(kind: .touchID, enrolment: EnrolmentSet([1]), reportsEnrolmentChanges: false)
    }
    func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) { events(.failed) }
    func disarm(_ evaluation: UInt64) {}
    func observe(_ changed: @escaping @Sendable () -> Void) {}
}
