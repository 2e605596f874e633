// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import TestSupport

/// The contents of `Tests/Vectors/store/v1`: one item of each kind, created in this order from fixed inputs.
enum GoldenStore {
    static let passcode = SecretBytes("1234".utf8)
    static let set = EnrolmentSet(Array(0..<16))
    static let match = Authorisation.testOnly(
        [.biometry, .passcode], enrolment: set, by: StoreOnDisk.caller)
    static let counters = PolicyCounters(biometryFailures: 2, passcodeFailures: 3, passcodeBlockedUntil: 5_000_000_000)

    struct Entry: Sendable {
        var attributes: Attributes
        var rule: AccessControl
        var secret: [UInt8]?
    }

    static let entries: [Entry] =
        Accessibility.allCases.map { accessibility in
            Entry(
                attributes: named("class \(accessibility.rawValue)"), rule: rule(accessibility),
                secret: Array("secret of class \(accessibility.rawValue)".utf8))
        } + [
            Entry(
                attributes: named("user presence"), rule: rule(.whenPasscodeSetThisDeviceOnly, .userPresence),
                secret: Array("present".utf8)),
            Entry(
                attributes: named("any finger"), rule: rule(.whenUnlocked, [.biometryAny, .or, .devicePasscode]),
                secret: Array("any".utf8)),
            Entry(
                attributes: named("current set"), rule: rule(.whenPasscodeSetThisDeviceOnly, .biometryCurrentSet),
                secret: Array("bound".utf8)),
            Entry(
                attributes: named("passcode"), rule: rule(.whenUnlocked, .devicePasscode),
                secret: Array("passcode".utf8)),
            Entry(
                attributes: named("current set or passcode"),
                rule: rule(.whenUnlocked, [.biometryCurrentSet, .or, .devicePasscode]), secret: Array("either".utf8)),
            Entry(attributes: named("no secret"), rule: AccessControl(), secret: nil),
            Entry(attributes: named("empty secret"), rule: AccessControl(), secret: []),
            Entry(attributes: named("every byte"), rule: AccessControl(), secret: Array(0...255)),
            Entry(attributes: [:], rule: AccessControl(), secret: Array("no name".utf8)),
            Entry(
                attributes: [
                    .account: .text("every attribute"), .service: .text("Zoë 🔑"), .accessGroup: .text("shared"),
                    .synchronizable: .boolean(true), .itemDescription: .text("description"),
                    .comment: .text("comment"), .creator: .number(0x4c4b_6579), .type: .number(-1),
                    .label: .text("label"), .isInvisible: .boolean(true), .isNegative: .boolean(false),
                    .generic: .data([0, 255]),
                ], rule: AccessControl(), secret: Array("everything".utf8)),
        ]

    /// Makes the store.
    static func make() throws -> StoreOnDisk {
        let store = try StoreOnDisk(random: CountedRandomSource(), clock: BootClock(boot: "golden"))
        do {
            let keychain = try store.open()
            _ = try keychain.apply(set)
            try keychain.setPasscode(passcode)
            for entry in entries {
                _ = try keychain.add(
                    Request.AddItem(
                        attributes: entry.attributes, accessControl: entry.rule,
                        secret: entry.secret.map(SecretBytes.init)),
                    caller: StoreOnDisk.caller)
            }
            _ = try keychain.update(.account("every byte"), [.comment: .text("updated once")])
            try keychain.persist(counters)
        }
        try store.settle()
        return store
    }

    /// A copy of the committed store in its own folder.
    static func committed() throws -> StoreOnDisk {
        let store = try StoreOnDisk()
        try store.prepare()
        try store.restore(
            Dictionary(uniqueKeysWithValues: GoldenFile.names.map { ($0, try GoldenFile(name: $0).read()) }))
        return store
    }
}
