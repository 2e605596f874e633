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
        /// What the user answered about a caller that reads items of others.
        var answer: UseGrounds
        var count: UInt64
        /// When the newest of them happened, in microseconds since 1970-01-01 UTC.
        var time: Int64
    }

    /// The item, the label of the caller and the answer about it. The first two are compared and hashed as bytes, which
    /// takes a fraction of the time of their elements and characters.
    private struct Key: Hashable, Sendable {
        var item: [UInt8]
        var label: String
        var answer: UseGrounds

        static func == (left: Key, right: Key) -> Bool {
            left.item == right.item && left.answer == right.answer && left.label.hasBytes(of: right.label)
        }

        func hash(into hasher: inout Hasher) {
            item.withUnsafeBytes { hasher.combine(bytes: $0) }
            // Labels of several callers of one item share a hash.
            hasher.combine(label.utf8.count)
        }
    }

    private struct State: Sendable {
        var reads: [Read] = []
        /// Where in `reads` each pair is counted.
        var places: [Key: Int] = [:]
        /// How many writers have taken reads that are not committed yet.
        var writers = 0
        /// When the reads were last written, in nanoseconds of the boot-time clock.
        var written: Int64

        /// How a read is counted: separately, or with others of the caller, or with others of any caller.
        func key(of key: Key) -> Key {
            guard reads.count >= GatheredReads.separate else { return key }
            let ofCaller = Key(item: [], label: key.label, answer: key.answer)
            guard reads.count >= 2 * GatheredReads.separate, places[ofCaller] == nil else { return ofCaller }
            // Further callers share the empty label, which no program has.
            return Key(item: [], label: "", answer: key.answer)
        }

        func place(of key: Key) -> Int? {
            places[key] ?? (reads.count < GatheredReads.separate ? nil : places[self.key(of: key)])
        }

        mutating func add(_ count: UInt64, of caller: Caller, _ time: Int64, at place: Int) {
            reads[place].caller.share(with: caller)
            reads[place].time = max(reads[place].time, time)
            let (sum, isBeyond) = reads[place].count.addingReportingOverflow(count)
            reads[place].count = isBeyond ? .max : sum
        }
    }

    /// Minimum time between two writes that only reads cause, in nanoseconds.
    static let window: Int64 = 600_000_000_000
    /// Pairs of item and caller that are counted separately. Further items of a caller are counted together without the
    /// item, and so many callers again have an entry of their own.
    private static let separate = 64
    private let state: Mutex<State>

    init(now: Int64) { state = Mutex(State(written: now)) }

    /// Counts a read. The caller is named as it is now: its process may have ended when the entry is written.
    ///
    /// - Parameters:
    ///   - answer: what the user answered about a caller that reads items of others.
    ///   - time: now, in microseconds since 1970-01-01 UTC.
    func count(_ item: [UInt8], of caller: Caller, _ answer: UseGrounds = [], at time: Int64) {
        let isCounted = state.withLock { state in
            guard let place = state.place(of: Key(item: item, label: caller.label, answer: answer)) else {
                return false
            }
            state.add(1, of: caller, time, at: place)
            return true
        }
        // Only the first of equal reads asks the kernel about the process.
        if !isCounted { add(Read(item: item, caller: caller.named, answer: answer, count: 1, time: time)) }
    }

    private func add(_ read: Read) {
        state.withLock { state in
            let exact = Key(item: read.item, label: read.caller.label, answer: read.answer)
            if let place = state.place(of: exact) {
                return state.add(read.count, of: read.caller, read.time, at: place)
            }
            let key = state.key(of: exact)
            var read = read
            (read.item, read.caller.label) = (key.item, key.label)
            state.places[key] = state.reads.count
            state.reads.append(read)
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

    /// Passes the reads that are not written yet to `write`, oldest first, and counts them further if it fails. Until it
    /// returns they are not recorded: a reader of the log waits behind it.
    func take<Fault: Error>(_ write: ([Read]) throws(Fault) -> Void) throws(Fault) {
        let taken: [Read] = state.withLock { state in
            defer { (state.reads, state.places) = ([], [:]) }
            if !state.reads.isEmpty { state.writers += 1 }
            return state.reads.sorted { ($0.time, $0.caller.label) < ($1.time, $1.caller.label) }
        }
        guard !taken.isEmpty else { return }
        defer { state.withLock { $0.writers -= 1 } }
        do throws(Fault) {
            try write(taken)
        } catch {
            for read in taken { add(read) }
            throw error
        }
    }

    /// Whether each read is recorded.
    var isEmpty: Bool { state.withLock { $0.reads.isEmpty && $0.writers == 0 } }
}

extension Keychain {
    /// Whether reads without a protection wait to be written and the time for that has come; true once for each window.
    package var isRecordingReadsDue: Bool { reads.isDue(at: clock.uptime) }

    /// Whether reads without a protection wait to be written, or are being written.
    package var hasUnrecordedReads: Bool { !reads.isEmpty }

    /// Writes the counted reads to the audit log: one entry for each item and caller, with the time of the newest of its reads.
    package func recordReads() throws(Failure) {
        try reads.take { (counted) throws(Failure) in
            try writeWithinQuota { (store) throws(Failure) in
                try checkRoom(for: .used, in: store)
                for read in counted {
                    try audit.append(
                        .used, item: read.item, caller: read.caller, count: read.count, time: read.time,
                        ground: .allowed(read.answer), to: store)
                }
            }
        }
    }
}
