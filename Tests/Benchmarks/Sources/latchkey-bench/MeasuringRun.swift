// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Fills the store step by step and measures at each step.
///
/// Latchkey and its floors are measured in short alternating batches, so that other load on the machine affects both
/// alike.
struct MeasuringRun {
    /// Consecutive reads in one batch.
    private static let readsInBatch = 50
    /// Consecutive writes in one batch; the store temporarily grows by as many items.
    private static let writesInBatch = 10
    private static let starts = 10
    private static let fillingThreads = 4

    private let options: Options
    private let place: Workspace
    private let daemon: DaemonProcess
    private let process: FloorProcess
    private let cipher: CipherFloor
    private let table: SQLiteFloor
    private var itemCount = 0

    init(_ options: Options, _ place: Workspace, _ daemon: DaemonProcess) throws(BenchFailure) {
        self.options = options
        self.place = place
        self.daemon = daemon
        process = try FloorProcess(database: place.database("remote-floor"))
        cipher = try CipherFloor()
        try options.cores.settle(process.child)
        table = try SQLiteFloor(at: place.database("floor"))
    }

    /// Fills the store to each size of the options and measures there.
    mutating func measureAll() throws(BenchFailure) -> [Measured] {
        var all: [Measured] = []
        for size in options.sizes {
            try fill(to: size)
            print("measuring at \(size) \(size == 1 ? "item" : "items")", to: .standardError)
            try options.cores.settle(daemon.identifier())
            var measured = Measured(itemCount: size)
            place.warm()
            // Untimed rounds first, so that cold caches do not count.
            var untimed = Measured(itemCount: size)
            try measureReads(&untimed, rounds: 2)
            try measureWrites(&untimed, rounds: 2)
            try measureReads(&measured, rounds: (options.reads + Self.readsInBatch - 1) / Self.readsInBatch)
            try measureWrites(&measured, rounds: (options.writes + Self.writesInBatch - 1) / Self.writesInBatch)
            measured.anonymousBytes = try daemon.anonymousBytes()
            if size >= 10_000 { measured.listing = try Listing.measure(size, daemon) }
            try measureStarts(&measured)
            all.append(measured)
        }
        return all
    }

    // MARK: - Filling

    private mutating func fill(to size: Int) throws(BenchFailure) {
        let (from, began) = (itemCount, Samples.now)
        var untimed = Samples()
        try table.fill(from..<size)
        try process.call(.fill, size, &untimed)
        let next = Mutex(from)
        let failure = Mutex<BenchFailure?>(nil)
        // The daemon has one writer thread; several callers only keep it busy.
        DispatchQueue.concurrentPerform(iterations: size - from < 100 ? 1 : Self.fillingThreads) { _ in
            do throws(BenchFailure) {
                while let number = MeasuringRun.take(next, size), failure.withLock({ $0 == nil }) {
                    var untimed = Samples()
                    try KeychainCalls.add([Item(number: number)], &untimed)
                    let done = number + 1 - from
                    guard size > 1000, done % ((size - from) / 10) == 0 else { continue }
                    let seconds = Double(Samples.now - began) / 1e9
                    print("filling: \(from + done) of \(size) items, \(Int(seconds)) s", to: .standardError)
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        itemCount = size
    }

    private static func take(_ next: borrowing Mutex<Int>, _ end: Int) -> Int? {
        next.withLock { next in
            guard next < end else { return nil }
            defer { next += 1 }
            return next
        }
    }

    // MARK: - Measuring

    private func measureReads(_ measured: inout Measured, rounds: Int) throws(BenchFailure) {
        for round in 0..<rounds {
            let items = (0..<Self.readsInBatch).map { turn in
                Item(number: Int(scramble(UInt64(round * Self.readsInBatch + turn)) % UInt64(itemCount)))
            }
            let before = try daemon.effort()
            try KeychainCalls.read(items, &measured.read)
            measured.readEffort += try daemon.effort() - before
            for item in items { try process.call(.echo, item.number, &measured.roundTrip) }
            try table.read(items, &measured.tableRead)
            for _ in items { try cipher.open(&measured.cipherOpen) }
        }
    }

    private func measureWrites(_ measured: inout Measured, rounds: Int) throws(BenchFailure) {
        var untimed = Samples()
        let numbers = itemCount..<itemCount + Self.writesInBatch
        let items = numbers.map { Item(number: $0) }
        for round in 0..<rounds {
            let before = try daemon.effort()
            try KeychainCalls.add(items, &measured.add)
            measured.addEffort += try daemon.effort() - before
            let ownBefore = try Effort(process: "self")
            try table.insert(items, &measured.tableInsert)
            measured.tableInsertEffort += try Effort(process: "self") - ownBefore
            for number in numbers { try process.call(.insert, number, &measured.remoteInsert) }
            try KeychainCalls.update(items, version: round + 1, &measured.update)
            try KeychainCalls.read(items, version: round + 1, &untimed)
            try KeychainCalls.delete(items, &measured.delete)
            try table.remove(numbers)
            try process.call(.cut, numbers.lowerBound, &untimed)
        }
    }

    /// Measures from no running daemon to the first answer: the client starts a daemon, which opens the store.
    private func measureStarts(_ measured: inout Measured) throws(BenchFailure) {
        for _ in 0..<Self.starts {
            try daemon.stop()
            try KeychainCalls.read([Item(number: 0)], &measured.start)
        }
    }
}
