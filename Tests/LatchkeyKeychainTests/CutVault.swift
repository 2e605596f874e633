// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import TPMDriver

@testable import LatchkeyKeychain

/// A vault that calls a closure before and after each write of the anchor and each increment of a counter.
final class CutVault: KeyVault {
    /// Before and after P, I and F of one event; before and after T as well if it replaces the key of the enrolment set.
    static func moments(of event: SecurityEvent) -> Int {
        [.enrollmentChanged, .protectedDiscarded, .accepted].contains(event) ? 8 : 6
    }
    private let vault: TPMKeyVault
    private let body: @Sendable (Int) -> Void
    private let state = Mutex<Int?>(nil)

    init(_ vault: TPMKeyVault, _ body: @escaping @Sendable (Int) -> Void) { (self.vault, self.body) = (vault, body) }

    /// Begins to count.
    func begin() { state.withLock { $0 = 0 } }

    /// The number of moments so far.
    var passed: Int { state.withLock { $0 ?? 0 } }

    fileprivate func step() {
        let number = state.withLock { state in
            defer { state = state.map { $0 + 1 } }
            return state
        }
        if let number { body(number) }
    }

    var counter: (any MonotonicCounter)? { vault.counter.map { CutCounter(vault: self, counter: $0) } }
    var enrolmentSeal: (any EnrolmentSeal)? { vault.enrolmentSeal.map { CutSeal(vault: self, seal: $0) } }
    func rootKey() throws(Failure) -> SecretBytes { try vault.rootKey() }
    func anchor() throws(Failure) -> SecretBytes? { try vault.anchor() }
    func replaceAnchor(_ anchor: SecretBytes) throws(Failure) {
        step()
        try vault.replaceAnchor(anchor)
        step()
    }
    func counterSlots() throws(Failure) -> [[UInt8]]? { try vault.counterSlots() }
    func overwriteCounterSlot(_ index: Int, with bytes: [UInt8]) throws(Failure) {
        try vault.overwriteCounterSlot(index, with: bytes)
    }
}

private final class CutCounter: MonotonicCounter {
    private let vault: CutVault
    private let counter: any MonotonicCounter

    init(vault: CutVault, counter: any MonotonicCounter) { (self.vault, self.counter) = (vault, counter) }

    func value() throws(Failure) -> UInt64? { try counter.value() }
    func create() throws(Failure) -> UInt64 { try counter.create() }
    func increment() throws(Failure) -> UInt64 {
        vault.step()
        let number = try counter.increment()
        vault.step()
        return number
    }
}

private final class CutSeal: EnrolmentSeal {
    private let seal: any EnrolmentSeal
    let counter: any MonotonicCounter

    init(vault: CutVault, seal: any EnrolmentSeal) {
        self.seal = seal
        counter = CutCounter(vault: vault, counter: seal.counter)
    }

    func seal(_ key: SecretBytes, at number: UInt64) throws(Failure) -> [UInt8] { try seal.seal(key, at: number) }
    func open(_ sealed: [UInt8], at number: UInt64) throws(Failure) -> SecretBytes { try seal.open(sealed, at: number) }
}
