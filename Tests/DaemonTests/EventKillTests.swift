// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Kills the daemon with SIGKILL at system calls of a security event. Afterwards the event has happened completely or
/// not at all, and an acknowledged event has happened (the table of docs/reference/store-format.md, "At start").
///
/// A first run records the calls of each thread. Then the daemon is killed as it enters one of them, in a store that is
/// restored each time: at four calls of each event, at all of them with `LATCHKEY_TESTS=all`.
@Suite(.needs(.trace)) struct EventKillTests {
    /// A call at which the daemon is killed: the `count`-th call of this name in the `thread`-th thread.
    private struct Point: CustomStringConvertible {
        let thread: Int
        let call: TracedCall
        let count: Int
        var description: String { "\(call.name) \(count) of thread \(thread): \(call.text.prefix(100))" }
    }
    private static let calls = "?write,?pwrite64,?fsync,?fdatasync,?rename,?renameat,?renameat2,?sendto"

    @Test(.promise("event.atomic", "abuse.35"), arguments: StoreEvent.allCases)
    func securityEventIsAtomicWhereverDaemonIsKilled_abuse35(event: StoreEvent) throws {
        let machine = try EventMachine(event)
        let points = try self.points(machine)
        let chosen = Environment.value("LATCHKEY_TESTS") == "all" ? points : Self.some(of: points)
        try #require(chosen.count >= 4, "the calls of the event were not recorded")
        var rows: Set<StoreSnapshot.Row> = []
        for point in chosen {
            let words: Comment = "\(event), killed at \(point)"
            guard let isAcknowledged = try carryOut(machine, killedAt: point) else {
                Issue.record(words)
                continue
            }
            let row = try StoreSnapshot(of: machine.daemon).row(in: machine.daemon.folder + "/copy")
            if case .other = row { Issue.record("\(row): \(words)") }
            rows.insert(row)
            try machine.expectWhole(isAcknowledged, words)
        }
        #expect(rows.isSuperset(of: [.clean, .prepared, .committed]), "\(event): \(rows)")
    }

    /// Carries out the event while the daemon is killed at a call, and returns whether it was acknowledged; nil when no run
    /// made the call in that thread.
    ///
    /// An idle work queue runs its work in the thread that submits it, a busy one in its own. On a busy machine an event may
    /// therefore be carried out by another thread than in the recorded run; it is then repeated.
    private func carryOut(_ machine: EventMachine, killedAt point: Point) throws -> Bool? {
        for _ in 1...5 {
            try machine.start()
            let trace = try Trace(
                machine.daemon, thread: try machine.threads[point.thread],
                ["-e", "inject=\(point.call.name):signal=SIGKILL:when=\(point.count)"])
            let isAcknowledged = machine.carryOut()
            if trace.waitForEnd(seconds: isAcknowledged ? 5 : 20) {
                #expect(machine.hasEnded())
                return isAcknowledged
            }
            #expect(isAcknowledged, "an event that was not interrupted failed")
            try machine.daemon.crash()
        }
        return nil
    }

    /// The calls of an uninterrupted event, in order.
    private func points(_ machine: EventMachine) throws -> [Point] {
        try machine.start()
        let threads = try machine.threads
        let trace = try Trace(machine.daemon, ["-e", "trace=" + Self.calls])
        #expect(machine.carryOut(), "the event is not interrupted")
        let calls = try trace.end()
        try machine.daemon.crash()
        try machine.expectWhole(true, "not killed")
        var counts: [String: Int] = [:]
        return calls.compactMap { call in
            guard let thread = threads.firstIndex(of: call.thread) else { return nil }
            counts["\(thread) \(call.name)", default: 0] += 1
            return Point(thread: thread, call: call, count: counts["\(thread) \(call.name)"] ?? 0)
        }
    }

    /// Selects calls before and after each of the two writes of the anchor, and within the transaction.
    private static func some(of points: [Point]) -> [Point] {
        let renames = points.indices.filter {
            points[$0].call.name.hasPrefix("rename") && points[$0].call.text.contains("/anchor.new")
        }
        guard renames.count == 2 else { return [] }
        let commit = points.indices.first {
            $0 > renames[0] && points[$0].call.name == "pwrite64" && points[$0].call.text.contains("sqlite-wal")
        }
        return ([renames[0], commit, renames[1], points.indices.last] as [Int?]).compactMap { $0.map { points[$0] } }
    }
}
