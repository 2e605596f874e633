// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// Work that a store needs and no request asks for: moving the store generation, telling the trail of failed tries, and
/// comparing all rows with the set hash.
final class StoreKeeper: Sendable {
    /// Seconds after a write until the store generation moves.
    private static let anchorSeconds: Int64 = 15 * 60
    private let keychain: Keychain
    private let clock: any Clock
    private let work: any WorkQueue
    private let log: any EventLog
    private let alarm = Mutex<(any Alarm)?>(nil)
    /// The counters as they were kept last.
    private let counters = Mutex<PolicyCounters?>(nil)
    /// Whether the rows are not those that were stored, as far as the check has come.
    private let isSuspect = Mutex(false)

    init(_ keychain: Keychain, _ parts: Service.Parts) {
        self.keychain = keychain
        clock = parts.clock
        work = parts.work
        log = parts.log
    }

    /// Whether a check found rows that are not those that were stored.
    var foundOtherRows: Bool { isSuspect.withLock { $0 } }

    /// Begins to watch for writes, and for tries beyond those of `counters`.
    func start(_ counters: PolicyCounters) {
        self.counters.withLock { $0 = counters }
        keychain.whenAnchoringIsDue { [weak self] in self?.anchorLater() }
    }

    // MARK: - Store generation

    /// The first write of a boot moves the store generation at once, every other one after a quarter of an hour.
    private func anchorLater() {
        guard !keychain.isFirstOfBoot else {
            return work.submit(.any) { [weak self] in self?.moveAnchor(isTimed: false) }
        }
        startAlarm()
    }

    private func startAlarm() {
        let next = clock.alarm(after: Self.anchorSeconds) { [weak self] in
            guard let self else { return }
            work.submit(.any) { [weak self] in self?.moveAnchor(isTimed: true) }
        }
        alarm.withLock { alarm in
            alarm?.cancel()
            alarm = next
        }
    }

    private func moveAnchor(isTimed: Bool) {
        // When it cannot be written now, or the budget of the day is spent, the next alarm or the end of the daemon tries
        // again: until then an older copy of the database may be believed, as within the quarter of an hour.
        log.noting(.anchorNotMoved) { () throws(Failure) in try keychain.moveAnchor(isTimed: isTimed) }
        if keychain.isAnchoringDue { startAlarm() }
    }

    /// What a clean stop of the daemon does: writes what was gathered and moves the store generation.
    func stop() {
        alarm.withLock { $0?.cancel() }
        // The daemon ends whether or not this can be written; what is lost is a count of refusals.
        log.noting(.refusalNotRecorded) { () throws(Failure) in try keychain.recordGatheredRefusals() }
        if keychain.isAnchoringDue { moveAnchor(isTimed: false) }
    }

    // MARK: - Failed tries

    /// Follows counters that are durable. A miss was one when it was counted; a passcode is counted before it is looked at.
    func follow(_ kept: PolicyCounters) {
        let before = counters.withLock { counters in
            defer { counters = kept }
            return counters?.biometryFailures ?? 0
        }
        guard kept.biometryFailures > before else { return }
        let threshold = PolicyState.lockoutThreshold
        recordTry(locks: before < threshold && kept.biometryFailures >= threshold)
    }

    /// Follows that the passcode which was counted last was wrong.
    func passcodeWasWrong() {
        let failures = counters.withLock { $0?.passcodeFailures ?? 0 }
        recordTry(locks: failures == PolicyState.lastPasscodeDelay)
    }

    /// The entry names the newest counters, so that older ones are not believed beside this trail. A lockout moves the
    /// store generation as well, so that no older copy of the database forgets it.
    private func recordTry(locks: Bool) {
        work.submit(.any) { [keychain, log] in
            do throws(Failure) {
                try keychain.record(.tryFailed, caller: nil)
                if locks { try keychain.recordLockout(caller: nil) }
            } catch {
                // The counters themselves are durable: tries stay counted, and a full disk must not lock the owner out.
                log.note(.tryNotRecorded, error)
            }
        }
    }

    // MARK: - Rows

    /// Rows up to which every start of the daemon checks them: some 50 milliseconds.
    private static let smallStore: Int64 = 20_000

    func checkRowsAtStart() {
        guard keychain.anchor.condition == .clean else { return }
        do throws(Failure) {
            let isLarge = try keychain.itemCount() > Self.smallStore
            if isLarge, !keychain.isFirstOfBoot { return }
        } catch {
            // A store whose rows cannot be counted fails every request that reads them, with the same error.
            return
        }
        checkRows()
    }

    /// Compares all rows with the set hash, a slice at a time, between other writes.
    func checkRows() {
        keychain.beginSetCheck()
        checkSlice()
    }

    private func checkSlice() {
        work.submit(.any) { [weak self] in
            guard let self else { return }
            do throws(Failure) {
                switch try keychain.continueSetCheck() {
                case nil: checkSlice()
                case true?: isSuspect.withLock { $0 = false }
                case false?:
                    isSuspect.withLock { $0 = true }
                    log.note(.rowsChanged, nil)
                    try keychain.recordSetMismatch()
                }
            } catch {
                // A store that cannot be read or written now is checked at the next start.
                isSuspect.withLock { $0 = true }
                log.note(.rowsNotChecked, error)
            }
        }
    }
}
