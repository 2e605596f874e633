// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The numbers of a run, in the form of the JSON output.
struct Report: Codable, Sendable {
    /// Durations of one kind of call at one number of items.
    struct Time: Codable, Sendable {
        /// The number of items in the store; 0 for calls that do not use the store.
        let items: Int
        let call: String
        /// Whether it is a floor: a lower bound for Latchkey.
        let isFloor: Bool
        let medianMicroseconds: Double
        let percentile99Microseconds: Double
        let samples: Int
    }

    /// A number, with a goal or for comparison only.
    struct Goal: Codable, Sendable {
        let items: Int
        let name: String
        let value: Double
        /// The goal; nil for a number that is reported for comparison only.
        let goal: Double?
        let unit: String
        /// Whether the goal is a minimum; otherwise it is a maximum.
        var isLeast = false

        /// Whether the goal is met; nil without one.
        var isMet: Bool? { goal.map { isLeast ? value >= $0 : value <= $0 } }
    }

    /// A mean count that does not depend on the speed of the machine.
    struct Count: Codable, Sendable {
        let items: Int
        let name: String
        let perCall: Double
        let samples: Int
    }

    let machine: Machine
    let secretBytes: Int
    let times: [Time]
    let goals: [Goal]
    let counts: [Count]

    init(
        machine: Machine, measured: [Measured], keys: [MeasuredKey], enclave: MeasuredKey, keyrings: [MeasuredKeyring]
    ) {
        self.machine = machine
        secretBytes = Item.secretBytes
        times =
            measured.flatMap(Report.times) + keys.flatMap(Report.times)
            + [Report.time(enclave)] + keyrings.flatMap(Report.times)
        goals =
            measured.flatMap(Report.goals) + Report.lookupGrowth(measured) + measured.flatMap(Report.listing)
            + keys.map(Report.goal) + measured.suffix(1).map { Report.goal(enclave, $0) }
            + keyrings.flatMap { Report.comparison($0, measured) }
        counts = measured.flatMap(Report.counts)
    }

    private static func times(_ measured: Measured) -> [Time] {
        let rows: [(String, Samples, isFloor: Bool)] = [
            ("add", measured.add, false), ("read", measured.read, false), ("update", measured.update, false),
            ("delete", measured.delete, false), ("start of the daemon", measured.start, false),
            ("socket round trip", measured.roundTrip, true), ("SQLite read", measured.tableRead, true),
            ("SQLite durable insert", measured.tableInsert, true),
            ("the same behind a socket", measured.remoteInsert, true), ("AES-256-GCM open", measured.cipherOpen, true),
        ]
        return rows.map { name, samples, isFloor in
            Time(
                items: measured.itemCount, call: name, isFloor: isFloor, medianMicroseconds: samples.median,
                percentile99Microseconds: samples.percentile99, samples: samples.count)
        }
    }

    private static func times(_ key: MeasuredKey) -> [Time] {
        [(key.name, key.ours, false), ("\(key.name), libcrypto alone", key.floor, true)].map { name, samples, isFloor in
            Time(
                items: 0, call: name, isFloor: isFloor, medianMicroseconds: samples.median,
                percentile99Microseconds: samples.percentile99, samples: samples.count)
        }
    }

    private static func time(_ enclave: MeasuredKey) -> Time {
        Time(
            items: 0, call: enclave.name, isFloor: false, medianMicroseconds: enclave.ours.median,
            percentile99Microseconds: enclave.ours.percentile99, samples: enclave.ours.count)
    }

    /// The cost that the round trip to the daemon adds to a signature.
    private static func goal(_ enclave: MeasuredKey, _ measured: Measured) -> Goal {
        Goal(
            items: 0, name: "sign in the enclave / (sign + round trip)",
            value: enclave.ours.median / (enclave.floor.median + measured.roundTrip.median), goal: 2, unit: "x")
    }

    private static func goal(_ key: MeasuredKey) -> Goal {
        Goal(
            items: 0, name: "\(key.name) / libcrypto alone", value: key.ours.median / key.floor.median, goal: 1.25,
            unit: "x")
    }

    private static func goals(_ measured: Measured) -> [Goal] {
        func goal(_ name: String, _ value: Double, _ goal: Double?, _ unit: String) -> Goal {
            Goal(items: measured.itemCount, name: name, value: value, goal: goal, unit: unit)
        }
        return [
            goal("read / (round trip + read + open)", measured.read.median / measured.readFloor, 3, "x"),
            goal("add / (durable insert + round trip)", measured.add.median / measured.addFloor, 1.5, "x"),
            goal("add / durable insert behind a socket", measured.add.median / measured.remoteInsert.median, nil, "x"),
            goal("start of the daemon", measured.start.median / 1000, 20, "ms"),
            goal("anonymous memory, idle", Double(measured.anonymousBytes) / 1_048_576, 10, "MiB"),
        ]
    }

    /// The ratio of a read in the largest store to a read at 1,000 items.
    private static func lookupGrowth(_ measured: [Measured]) -> [Goal] {
        guard let small = measured.first(where: { $0.itemCount == 1000 }), let large = measured.last,
            large.itemCount > small.itemCount
        else { return [] }
        let growth = large.read.median / small.read.median
        return [
            Goal(
                items: large.itemCount, name: "read / read at 1000 items", value: growth, goal: 2, unit: "x")
        ]
    }

    /// The cost of one program's listing for other programs.
    private static func listing(_ measured: Measured) -> [Goal] {
        guard let listing = measured.listing else { return [] }
        guard listing.failure == nil else {
            return [Goal(items: measured.itemCount, name: "list all: no answer", value: 0, goal: nil, unit: "items")]
        }
        return [
            Goal(
                items: measured.itemCount, name: "list all, every item", value: listing.list.median / 1000, goal: nil,
                unit: "ms"),
            Goal(
                items: measured.itemCount, name: "longest read of another program meanwhile",
                value: listing.reads.longest / 1000, goal: nil, unit: "ms"),
            Goal(
                items: measured.itemCount, name: "anonymous memory after it",
                value: Double(listing.anonymousBytes) / 1_048_576, goal: 64, unit: "MiB"),
        ]
    }

    private static func counts(_ measured: Measured) -> [Count] {
        func count(_ name: String, _ sum: Int, _ samples: Samples) -> Count {
            Count(
                items: measured.itemCount, name: name, perCall: Double(sum) / Double(max(1, samples.count)),
                samples: samples.count)
        }
        return [
            count("read: waits of the daemon", measured.readEffort.waits, measured.read),
            count("add: waits of the daemon", measured.addEffort.waits, measured.add),
            count("add: bytes the daemon writes", measured.addEffort.writtenBytes, measured.add),
            count("SQLite durable insert: bytes", measured.tableInsertEffort.writtenBytes, measured.tableInsert),
        ]
    }

    /// Prints the tables and writes the JSON to a file if one is given; with "-", prints the JSON instead.
    func publish(_ json: String?) throws(BenchFailure) {
        if json != "-" { for line in text { print(line, to: .standardOutput) } }
        guard let json else { return }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let bytes = try encoder.encode(self) + Data("\n".utf8)
            if json == "-" {
                FileHandle.standardOutput.write(bytes)
            } else {
                try bytes.write(to: URL(fileURLWithPath: json))
            }
        } catch {
            throw BenchFailure("The JSON cannot be written: \(error.localizedDescription)")
        }
    }
}
