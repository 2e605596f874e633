// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// The work on a store that no request waits for.
///
/// It advances the store generation, records failed tries in the audit log, erases old copies, and compares all rows
/// with the set hash. These four are independent of each other. Each runs on the write queue, in slices where it
/// would hold up requests.
///
/// A failure here fails no request: it is logged, and the work is tried again later or at the next start. A comparison
/// that could not be completed counts as a difference: a store that was not verified is not migrated, and its old
/// copies stay.
final class StoreMaintenance: Sendable {
    /// Seconds between a write and the advance of the store generation.
    private static let anchorSeconds: Int64 = 15 * 60
    private let keychain: Keychain
    private let clock: any Clock
    private let work: any WorkQueue
    private let log: any EventLog
    private let alarm = Mutex<(any Alarm)?>(nil)
    private let counters = Mutex<PolicyCounters?>(nil)
    /// Whether the last check found that the rows differ from those that were stored, or could not be completed.
    private let isSuspect = Mutex(false)
    /// Seconds until old copies are erased, after an update that leaves one or a failed attempt.
    private static let erasureSeconds: Int64 = 60
    private let erasure = Mutex(Erasure())

    /// The next attempt to erase old copies.
    private struct Erasure {
        var alarm: (any Alarm)?
        /// Whether a failed attempt was logged since the last complete one.
        var isLogged = false
    }

    init(_ keychain: Keychain, _ parts: Service.Parts) {
        self.keychain = keychain
        clock = parts.clock
        work = parts.work
        log = parts.log
    }

    /// Whether the last check found that the rows differ from those that were stored, or could not be completed.
    var foundOtherRows: Bool { isSuspect.withLock { $0 } }

    /// Starts to observe writes, and failed tries beyond those of `counters`.
    func start(_ counters: PolicyCounters) {
        self.counters.withLock { $0 = counters }
        keychain.whenAnchoringIsDue { [weak self] in self?.anchorLater() }
        keychain.whenOldCopiesExist { [weak self] in self?.eraseLater() }
    }

    // MARK: - Store generation

    /// Schedules the advance of the store generation: at once for the first write of a boot, otherwise after
    /// `anchorSeconds`.
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
        // If the anchor cannot be written now, or the budget of the day is spent, the next alarm or the stop of the
        // daemon tries again. Until then an older copy of the database may be accepted, as during `anchorSeconds`.
        log.recording(.anchorNotMoved) { () throws(Failure) in try keychain.moveAnchor(isTimed: isTimed) }
        if keychain.isAnchoringDue { startAlarm() }
    }

    /// Stores gathered refusals and reads, and advances the store generation, before the daemon exits.
    func stop() {
        alarm.withLock { $0?.cancel() }
        // The daemon exits even if these cannot be stored; then a count is lost.
        log.recording(.refusalNotRecorded) { () throws(Failure) in try keychain.recordGatheredRefusals() }
        log.recording(.readsNotRecorded) { () throws(Failure) in try keychain.recordReads() }
        erasure.withLock { $0.alarm?.cancel() }
        // Writes, so it comes before the store generation.
        if keychain.hasDeletedRows { eraseOldCopies(isLast: true) }
        if keychain.isAnchoringDue { moveAnchor(isTimed: false) }
        // What cannot be merged now is merged by the next daemon. The log has no deleted row if these were erased.
        log.recording(.oldCopiesNotErased) { () throws(Failure) in try keychain.mergeLog() }
    }

    /// Erases what the rows contained that were just deleted, before the request is answered. Waits for readers.
    ///
    /// - Returns: why they are still in the files; nil if they are not.
    func eraseDeletedRows() -> Failure? {
        guard keychain.hasDeletedRows else { return nil }
        do throws(Failure) {
            if try keychain.eraseOldCopies(waits: true) { return nil }
            throw Self.isRead
        } catch {
            log.record(.oldCopiesNotErased, error)
            return Failure(
                error.status,
                "The items were deleted, but what they contained is still in the files of the keychain: \(error.message)",
                hint: "It is erased when the daemon stops, unless this persists.", cause: error)
        }
    }

    private static var isRead: Failure {
        Failure(.timedOut, "A reader of the database needs its log.", hint: "It is tried again.")
    }

    // MARK: - Failed tries

    /// Remembers counters that were just stored.
    func apply(_ stored: PolicyCounters) { counters.withLock { $0 = stored } }

    /// Records a failed try, which was counted last. The entry names the newest counters, so that older counters are not
    /// accepted with this audit log. A lockout also advances the store generation, so that an older copy of the database
    /// cannot undo it.
    ///
    /// - Parameters:
    ///   - caller: the program whose prompt it was; nil if it is not known.
    ///   - item: the item that the program asked for; empty if it is not known.
    func tryFailed(_ proof: TriedProof, of caller: Caller?, _ item: [UInt8]) {
        let counted = counters.withLock { $0 }
        let locks =
            switch proof {
            case .finger, .face: counted?.biometryFailures == PolicyState.lockoutThreshold
            case .passcode, .accountPassword: counted?.passcodeFailures == PolicyState.lastPasscodeDelay
            }
        work.submit(.any) { [keychain, log] in
            do throws(Failure) {
                try keychain.record(.tryFailed, item: item, caller: caller, ground: .failed(proof))
                if locks { try keychain.recordLockout(caller: nil) }
            } catch {
                // The counters themselves are durable: tries stay counted, and a full disk must not lock the owner out.
                log.record(.tryNotRecorded, error)
            }
        }
    }

    // MARK: - Rows

    /// Maximum rows of a store that is checked at every start of the daemon; checking them takes about 50 milliseconds.
    private static let smallStore: Int64 = 20_000

    /// Starts a check of all rows if the anchor is clean, and seals those that were not sealed before. For a large store
    /// both are done only until its anchor is first written after a boot; an unlock seals its rows as well.
    func checkRowsAtStart(_ enclave: Enclave?) {
        if keychain.hasOldCopies { eraseLater() }
        guard keychain.anchor.condition == .clean else { return }
        recordTrailCut()
        do throws(Failure) {
            let isLarge = try keychain.itemCount() > Self.smallStore
            if isLarge, !keychain.isFirstOfBoot { return }
        } catch {
            // If the rows cannot be counted, every request that reads them fails with the same error.
            return
        }
        checkRows()
        sealForPasscode(enclave)
    }

    /// Records that newest entries of the audit log were cut off while no daemon ran. If this fails, the next entry is
    /// preceded by that record.
    private func recordTrailCut() {
        work.submit(.any) { [keychain, log] in
            do throws(Failure) {
                guard try keychain.isTrailCut() else { return }
                log.record(.trailCut, nil)
                try keychain.recordTrailCut()
            } catch {
                log.record(.trailCut, error)
            }
        }
    }

    /// Seals the items for the passcode that were added before it was set, in slices between other writes. A store has few
    /// of them or none, and reading its attributes takes as long as `checkRows`. Then erases earlier copies of their rows from the
    /// files.
    func sealForPasscode(_ enclave: Enclave?, after position: Int64 = .min) {
        work.submit(.any) { [weak self, keychain, log] in
            do throws(Failure) {
                let next = try keychain.sealForPasscode(after: position) { blob in
                    do throws(Failure) {
                        return try enclave?.needsPasscode(blob) ?? true
                    } catch {
                        // The key stays as it is; the items behind it are sealed nevertheless.
                        log.record(.rowsNotSealed, error)
                        return true
                    }
                }
                if let next {
                    self?.sealForPasscode(enclave, after: next)
                } else if keychain.hasOldCopies {
                    self?.eraseOldCopies()
                }
            } catch {
                // They are protected as before, and the next unlock or start tries again.
                log.record(.rowsNotSealed, error)
                if keychain.hasOldCopies { self?.eraseLater() }
            }
        }
    }

    // MARK: - Old copies

    /// Schedules the erasure of old copies. A delay lets an app update many items before one erasure.
    private func eraseLater() {
        let next = clock.alarm(after: Self.erasureSeconds) { [weak self] in
            guard let self else { return }
            work.submit(.any) { [weak self] in self?.eraseOldCopies() }
        }
        erasure.withLock { erasure in
            erasure.alarm?.cancel()
            erasure.alarm = next
        }
    }

    /// Erases old copies. If a reader of the database prevents it, tries again later. After another failure the next exit or
    /// start tries again: an attempt writes as much as the database has, which must not be repeated on a full disk.
    ///
    /// - Parameter isLast: whether the daemon is about to exit.
    private func eraseOldCopies(isLast: Bool = false) {
        // Files that disagree, or lack rows, may be needed as they are to restore what is missing.
        guard keychain.hasDeletedRows, keychain.anchor.condition == .clean, !foundOtherRows else { return }
        let failure: Failure?
        var isRepeated = false
        do throws(Failure) {
            isRepeated = try !keychain.eraseOldCopies()
            failure = isRepeated ? Self.isRead : nil
        } catch {
            failure = error
        }
        let isNew = erasure.withLock { erasure in
            defer { erasure.isLogged = failure != nil }
            return !erasure.isLogged
        }
        guard let failure else { return }
        if isNew { log.record(.oldCopiesNotErased, failure) }
        if isRepeated, !isLast { eraseLater() }
    }

    /// Called after an event that has computed the set hash of the rows as they are: what they were compared with before does not
    /// count any more. They are compared with the new hash in the background.
    func rowsWereAccepted() {
        isSuspect.withLock { $0 = false }
        checkRows()
    }

    /// Compares all rows with the set hash, in slices between other writes.
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
                    log.record(.rowsChanged, nil)
                    try keychain.recordSetMismatch()
                }
            } catch {
                // A store that cannot be read or written now is checked at the next start.
                isSuspect.withLock { $0 = true }
                log.record(.rowsNotChecked, error)
            }
        }
    }
}
