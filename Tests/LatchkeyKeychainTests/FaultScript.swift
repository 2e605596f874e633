// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import TestSupport

/// The visible state of a store, and the effect of each operation of a recorded run on it.
struct FaultScript: Hashable, Sendable {
    /// Secrets by account, as read with every proof.
    var secrets: [String: String] = [:]
    var passcode: String?
    var counters: Int?

    /// An operation; `expected` returns nil where the store refuses it.
    struct Step: Sendable {
        let name: String
        let run: @Sendable (Keychain) throws(Failure) -> Void
        let expected: @Sendable (FaultScript) -> FaultScript?
    }

    /// The state of the store before faults are injected.
    static let start = FaultScript(
        secrets: ["one": "1", "two": "2", "kept": "3", "finger": "4", "passcode": "6", "either": "7"], passcode: "1234",
        counters: 0)

    static func prepare(_ keychain: Keychain) throws {
        _ = try keychain.apply(enrolled(1))
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try keychain.add("one", "1")
        try keychain.add("two", "2")
        try keychain.add("kept", "3", rule(.whenPasscodeSetThisDeviceOnly))
        try keychain.add("finger", "4", rule(.whenUnlocked, .biometryCurrentSet))
        try keychain.add("passcode", "6", rule(.whenUnlocked, .devicePasscode))
        try keychain.add("either", "7", rule(.whenUnlocked, [.biometryCurrentSet, .or, .devicePasscode]))
    }

    static func enrolled(_ number: UInt8) -> EnrolmentSet { EnrolmentSet([UInt8](repeating: number, count: 16)) }

    static let large = String(repeating: "large ", count: 12_000)

    static let steps: [Step] = [
        adding("three", "3"),
        Step(name: "update") { (keychain) throws(Failure) in
            _ = try keychain.update(.account("one"), secret: "new")
        } expected: {
            $0.setting("one", "new")
        },
        Step(name: "rename") { (keychain) throws(Failure) in
            _ = try keychain.update(.account("two"), [.account: .text("zwei")])
        } expected: { state in
            guard let secret = state.secrets["two"] else { return nil }
            var next = state
            next.secrets["two"] = nil
            next.secrets["zwei"] = secret
            return next
        },
        Step(name: "count") { (keychain) throws(Failure) in
            try keychain.persist(PolicyCounters(biometryFailures: 3, passcodeFailures: 1, passcodeBlockedUntil: 5))
        } expected: { state in
            var next = state
            next.counters = 3
            return next
        },
        adding("large", large),
        Step(name: "delete") { (keychain) throws(Failure) in
            try keychain.delete(.account("three"), caller: StoreOnDisk.caller)
        } expected: {
            $0.setting("three", nil)
        },
        Step(name: "note a refusal") { (keychain) throws(Failure) in
            try keychain.record(.refused, caller: StoreOnDisk.caller)
        } expected: {
            $0
        },
        Step(name: "change the passcode") { (keychain) throws(Failure) in
            try keychain.changePasscode(to: SecretBytes("4321".utf8))
        } expected: { state in
            var next = state
            next.passcode = "4321"
            return next
        },
        Step(name: "enroll") { (keychain) throws(Failure) in
            _ = try keychain.apply(enrolled(2))
        } expected: { state in
            var next = state
            next.secrets["finger"] = nil
            return next
        },
        Step(name: "remove the passcode") { (keychain) throws(Failure) in
            try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        } expected: { state in
            var next = state
            next.passcode = nil
            next.secrets["kept"] = nil
            return next
        },
        adding("last", "5"),
        Step(name: "set a passcode again") { (keychain) throws(Failure) in
            // The removal may be the step that failed.
            if !keychain.isPasscodeSet { try keychain.setPasscode(SecretBytes("1234".utf8)) }
        } expected: { state in
            var next = state
            next.passcode = state.passcode ?? "1234"
            return next
        },
        Step(name: "seal older items for the passcode") { (keychain) throws(Failure) in
            try keychain.sealForPasscode()
        } expected: {
            $0
        },
        Step(name: "erase old copies") { (keychain) throws(Failure) in
            _ = try keychain.eraseOldCopies()
        } expected: {
            $0
        },
    ]

    private static func adding(_ account: String, _ secret: String) -> Step {
        Step(name: "add \(account)") { (keychain) throws(Failure) in
            try keychain.add(account, secret)
        } expected: { state in
            guard state.secrets[account] == nil else { return nil }
            var next = state
            next.secrets[account] = secret
            return next
        }
    }

    private func setting(_ account: String, _ secret: String?) -> FaultScript? {
        guard secrets[account] != nil else { return nil }
        var next = self
        next.secrets[account] = secret
        return next
    }

    /// Reads the state of a keychain; the passcode is one of those that the script sets.
    static func seen(in keychain: Keychain) throws -> FaultScript {
        var state = FaultScript()
        if keychain.isPasscodeSet {
            state.passcode = try ["1234", "4321"].first { try keychain.unlock(SecretBytes($0.utf8)) } ?? "another"
        }
        state.counters = try keychain.storedCounters()?.0.biometryFailures
        let proof = Authorisation.testOnly(
            [.biometry, .passcode], enrolment: enrolled(1), by: StoreOnDisk.caller)
        for item in try keychain.find(
            ItemQuery(itemClass: .genericPassword), proof: proof, returns: [.attributes, .data]) ?? []
        {
            guard case .text(let account)? = item.attributes?[.account] else { continue }
            state.secrets[account] = item.secret.map { String(decoding: $0.copyBytes(), as: UTF8.self) } ?? "-"
        }
        return state
    }
}
