// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Counts reads of items that nothing protects, which are written to the audit log together.
///
/// A protected secret is sent only after its use is in the audit log. A read without a protection takes microseconds, and
/// a program may read in a loop: it neither waits for the disk nor adds an entry each time. A daemon that is killed loses
/// the counts since they were last written.
final class GatheredReads: Sendable {
    struct Read: Sendable {
        var item: [UInt8]
        var caller: Caller
        var count: UInt64
    }

    private struct Key: Hashable, Sendable {
        var item: [UInt8]
        var label: String
    }

    private struct State: Sendable {
        var reads: [Key: Read] = [:]
        /// When the reads were last written, in nanoseconds of the boot-time clock.
        var written: Int64
    }

    /// Minimum time between two writes that only reads cause, in nanoseconds.
    static let window: Int64 = 600_000_000_000
    /// Pairs of item and caller that are counted separately. Further items of a caller are counted together without the
    /// item, and so many callers again have an entry of their own.
    private static let separate = 64
    private let state: Mutex<State>

    init(now: Int64) { state = Mutex(State(written: now)) }

    /// Counts a read. The caller is named as it is now: its process may have ended when the entry is written.
    func count(_ item: [UInt8], of caller: Caller) {
        let isCounted = state.withLock { state in
            let key = Key(item: item, label: caller.label)
            guard state.reads[key] != nil else { return false }
            state.reads[key]?.count += 1
            return true
        }
        // Only the first of equal reads asks the kernel about the process.
        if !isCounted { add(Read(item: item, caller: caller.named, count: 1)) }
    }

    /// Takes back reads that could not be written.
    func giveBack(_ reads: [Read]) { for read in reads { add(read) } }

    private func add(_ read: Read) {
        state.withLock { state in
            var read = read
            var key = Key(item: read.item, label: read.caller.label)
            if state.reads[key] == nil, state.reads.count >= Self.separate {
                // Further callers share the empty label, which no program has.
                if state.reads.count >= 2 * Self.separate { (key.label, read.caller.label) = ("", "") }
                (key.item, read.item) = ([], [])
            }
            let (sum, isBeyond) = (state.reads[key]?.count ?? 0).addingReportingOverflow(read.count)
            read.count = isBeyond ? .max : sum
            state.reads[key] = read
        }
    }

    /// Whether reads were counted and the last write is a window ago. True only once for each window.
    func isDue(at now: Int64) -> Bool {
        state.withLock { state in
            guard !state.reads.isEmpty, now - state.written >= Self.window || now < state.written else { return false }
            state.written = now
            return true
        }
    }

    /// Returns the reads that are not written yet, and clears them.
    func take() -> [Read] {
        state.withLock { state in
            defer { state.reads = [:] }
            return state.reads.values.sorted {
                $0.caller.label == $1.caller.label
                    ? $0.item.lexicographicallyPrecedes($1.item) : $0.caller.label < $1.caller.label
            }
        }
    }

    /// Whether no read waits to be written.
    var isEmpty: Bool { state.withLock { $0.reads.isEmpty } }
}

extension Keychain {
    /// Whether reads without a protection wait to be written and the time for that has come; true once for each window.
    package var isRecordingReadsDue: Bool { reads.isDue(at: clock.uptime) }

    /// Whether reads without a protection wait to be written.
    package var hasUnrecordedReads: Bool { !reads.isEmpty }

    /// Writes the counted reads to the audit log: one entry for each item and caller.
    package func recordReads() throws(Failure) {
        let counted = reads.take()
        guard !counted.isEmpty else { return }
        do throws(Failure) {
            try writeWithinQuota { (store) throws(Failure) in
                try checkRoom(for: .used, in: store)
                for read in counted {
                    try audit.append(.used, item: read.item, caller: read.caller, count: read.count, to: store)
                }
            }
        } catch {
            reads.giveBack(counted)
            throw error
        }
    }
}
