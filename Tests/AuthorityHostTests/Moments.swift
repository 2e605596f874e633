// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The moments before and after each durable write of both services, at one of which a test cuts the power.
final class Moments: Sendable {
    private let body: Mutex<(@Sendable (Int) -> Void)?>
    private let count = Mutex<Int?>(nil)

    /// Calls `body` with the number of each moment, from 0.
    init(_ body: @escaping @Sendable (Int) -> Void) { self.body = Mutex(body) }

    /// Begins to count.
    func begin() { count.withLock { $0 = 0 } }

    /// Releases what the body holds: a service that lost its power keeps its moments as long as its work is under way.
    func end() { body.withLock { $0 = nil } }

    /// The number of moments so far.
    var passed: Int { count.withLock { $0 ?? 0 } }

    private func step() {
        let number = count.withLock { count in
            defer { count = count.map { $0 + 1 } }
            return count
        }
        if let number { body.withLock { $0 }?(number) }
    }

    func around<R>(_ write: () throws(Failure) -> R) throws(Failure) -> R {
        step()
        let result = try write()
        step()
        return result
    }
}

/// A vault whose writes are moments.
final class WatchedVault: KeyVault {
    private let vault: any KeyVault
    private let moments: Moments

    init(_ vault: any KeyVault, _ moments: Moments) { (self.vault, self.moments) = (vault, moments) }

    var counter: (any MonotonicCounter)? { vault.counter.map { WatchedCounter($0, moments) } }
    var enrolmentSeal: (any EnrolmentSeal)? { vault.enrolmentSeal.map { WatchedSeal($0, moments) } }
    func rootKey() throws(Failure) -> SecretBytes { try vault.rootKey() }
    func anchor() throws(Failure) -> SecretBytes? { try vault.anchor() }
    func counterSlots() throws(Failure) -> [[UInt8]]? { try vault.counterSlots() }
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        try moments.around { () throws(Failure) in try vault.replaceAnchor(anchor) }
    }
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try vault.overwriteCounterSlot(index, with: bytes)
    }
}

private final class WatchedCounter: MonotonicCounter {
    private let counter: any MonotonicCounter
    private let moments: Moments

    init(_ counter: any MonotonicCounter, _ moments: Moments) { (self.counter, self.moments) = (counter, moments) }

    func value() throws(Failure) -> UInt64? { try counter.value() }
    func create() throws(Failure) -> UInt64 { try counter.create() }
    func increment() throws(Failure) -> UInt64 {
        try moments.around { () throws(Failure) in try counter.increment() }
    }
}

private final class WatchedSeal: EnrolmentSeal {
    private let seal: any EnrolmentSeal
    let counter: any MonotonicCounter

    init(_ seal: any EnrolmentSeal, _ moments: Moments) {
        self.seal = seal
        counter = WatchedCounter(seal.counter, moments)
    }

    func seal(_ key: SecretBytes, at number: UInt64) throws(Failure) -> [UInt8] { try seal.seal(key, at: number) }
    func open(_ sealed: [UInt8], at number: UInt64) throws(Failure) -> SecretBytes { try seal.open(sealed, at: number) }
}

/// A recovery whose writes are moments.
struct WatchedRecovery: RecoverableVault {
    let recovery: any RecoverableVault
    let moments: Moments

    func opens(_ key: SecretBytes) throws(Failure) -> Bool { try recovery.opens(key) }
    func hasCode() throws(Failure) -> Bool { try recovery.hasCode() }
    func persist(_ key: SecretBytes?) throws(Failure) {
        try moments.around { () throws(Failure) in try recovery.persist(key) }
    }
    func recover(_ key: SecretBytes, replacement: SecretBytes) throws(Failure) -> Bool {
        try moments.around { () throws(Failure) in try recovery.recover(key, replacement: replacement) }
    }
    func copy() throws(Failure) -> [UInt8] { try recovery.copy() }
    func persist(copy: [UInt8]) throws(Failure) {
        try moments.around { () throws(Failure) in try recovery.persist(copy: copy) }
    }
}

/// Records of a passcode whose writes are moments.
final class WatchedRecords: PasscodeRecordStore {
    private let records: any PasscodeRecordStore
    private let moments: Moments

    init(_ records: any PasscodeRecordStore, _ moments: Moments) { (self.records, self.moments) = (records, moments) }

    func passcodeRecords() throws(Failure) -> PasscodeRecords { try records.passcodeRecords() }
    func persist(_ new: PasscodeRecords) throws(Failure) {
        try moments.around { () throws(Failure) in try records.persist(new) }
    }
}
