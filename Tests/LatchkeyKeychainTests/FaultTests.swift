// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Every write, sync and truncation of a recorded run fails in turn, below SQLite. After reopening, every
/// acknowledged operation is present, and every other one is present as a whole or not at all (abuse case 36).
@Suite struct FaultTests {
    /// Which calls fail, and how.
    struct Kind: Sendable, CustomTestStringConvertible {
        var fault: FaultPlan.Fault
        var goesOn: Bool
        var testDescription: String { "\(fault)\(goesOn ? " from then on" : " once")" }
        static let all = FaultPlan.Fault.allCases.flatMap {
            [Kind(fault: $0, goesOn: false), Kind(fault: $0, goesOn: true)]
        }
    }

    private let original: StoreOnDisk
    private let files: [String: Data]

    init() throws {
        original = try StoreOnDisk()
        do { try FaultScript.prepare(original.open()) }
        try original.settle()
        files = try original.files()
    }

    /// 1 with `LATCHKEY_TESTS=all`; otherwise every fourth call fails, with another offset for each kind.
    private var stride: Int { ProcessInfo.processInfo.environment["LATCHKEY_TESTS"] == "all" ? 1 : 4 }

    /// Opens a copy of the prepared store whose files fail according to the returned plan.
    private func storeUnderPlan() throws -> (StoreOnDisk, FaultPlan) {
        let store = try StoreOnDisk()
        try store.prepare()
        try store.restore(files)
        let plan = FaultPlan()
        FaultyFiles.plan(plan, for: store.folder.path)
        return (store, plan)
    }

    private func recordedCalls() throws -> Int {
        let (store, plan) = try storeUnderPlan()
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        var state = FaultScript.start
        do {
            let keychain = try store.open()
            #expect(try FaultScript.seen(in: keychain) == state)
            for step in FaultScript.steps {
                try step.run(keychain)
                state = try #require(step.expected(state), "\(step.name)")
                #expect(try FaultScript.seen(in: keychain) == state, "\(step.name)")
            }
        }
        return plan.calls
    }

    @Test(.promise("abuse.36"), arguments: Kind.all)
    func noAcknowledgedWriteIsLostWhenACallFails_abuse36(kind: Kind) throws {
        let calls = try recordedCalls()
        #expect(calls > 60, "the run was not recorded")
        let store = try StoreOnDisk()
        try store.prepare()
        let first = Int(kind.fault == .diskFull ? 1 : 0) + (kind.goesOn ? 2 : 0)
        for number in Swift.stride(from: stride == 1 ? 0 : first, to: calls, by: stride) {
            try store.restore(files)
            try run(store, number, kind)
        }
    }

    @Test func aCommitIsOneWriteAndOneSync() throws {
        let (store, plan) = try storeUnderPlan()
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        let keychain = try store.open()
        try keychain.add("first", "the log header is written now")
        for number in 0..<20 {
            let before = plan.calls
            try keychain.add("item \(number)", "secret")
            #expect(plan.calls - before == 2)
        }
    }

    @Test func aTransactionLargerThanTheLogBufferIsComplete() throws {
        let store = try StoreOnDisk()
        try store.prepare()
        try store.restore(files)
        let sizes = [60_000, 65_536, 131_072, 1 << 20]
        do {
            let keychain = try store.open()
            for size in sizes {
                try keychain.add("\(size)", String(repeating: "x", count: size))
            }
        }
        let keychain = try store.open()
        for size in sizes {
            #expect(try keychain.secret("\(size)")?.count == size)
        }
        #expect(try keychain.findings() == [])
    }

    @Test(.promise("abuse.36")) func anUnreadableDiskIsNotReportedAsAbsentOrDamagedItems_abuse36() throws {
        let (store, plan) = try storeUnderPlan()
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        do {
            let keychain = try store.open()
            // More than the page cache, so that pages must be read again.
            for number in 0..<4 { try keychain.add("large \(number)", String(repeating: "x", count: 1 << 20)) }
            plan.readsFail = true
            #expect(status { _ = try keychain.find(ItemQuery(itemClass: .genericPassword)) } == .storeUnreadable)
            #expect(status { _ = try keychain.secret("large 0") } == .storeUnreadable)
            #expect(status { _ = try keychain.findings() } == .storeUnreadable, "a check must read")
            #expect(status { _ = try store.open() } == .storeUnreadable)
            plan.readsFail = false
            try keychain.quarantineDamaged()
            #expect(try keychain.quarantineCount() == 0)
            #expect(try keychain.secret("large 0")?.count == 1 << 20)
        }
        #expect(try store.open().findings() == [])
    }

    /// Runs the script with one fault, and compares the store with every permitted state.
    private func run(_ store: StoreOnDisk, _ number: Int, _ kind: Kind) throws {
        let plan = FaultPlan()
        plan.fail(at: number, kind.fault, goesOn: kind.goesOn)
        FaultyFiles.plan(plan, for: store.folder.path)
        var possible: Set<FaultScript> = [FaultScript.start]
        do {
            let keychain = try store.open()
            for step in FaultScript.steps {
                try perform(step, keychain, &possible, "\(step.name), call \(number), \(kind.testDescription)", kind)
            }
        } catch {
            #expect(isRight(error, kind), "opening, call \(number): \(error)")
        }
        #expect(plan.hasFailed, "call \(number) was not reached")
        FaultyFiles.plan(nil, for: store.folder.path)

        let keychain = try store.open()
        let left = try FaultScript.seen(in: keychain)
        #expect(possible.contains(left), "call \(number), \(kind.testDescription): \(left.secrets.keys.sorted())")
        // Rows, indexes, records, the audit log and the database itself.
        #expect(try keychain.findings() == [], "call \(number), \(kind.testDescription)")
        // The store remains usable.
        try keychain.add("afterwards", "6")
        #expect(try keychain.secret("afterwards") == "6")
    }

    private func perform(
        _ step: FaultScript.Step, _ keychain: Keychain, _ possible: inout Set<FaultScript>, _ words: String,
        _ kind: Kind
    ) throws {
        do throws(Failure) {
            try step.run(keychain)
            possible = Set(possible.compactMap(step.expected))
        } catch {
            switch error.status {
            case .itemNotFound, .duplicateItem, .passcodeNotSet:
                // The operation is refused in the current state, which excludes the states in which it is possible.
                possible = possible.filter { step.expected($0) == nil }
            default:
                #expect(isRight(error, kind), "\(words): \(error)")
                possible.formUnion(possible.compactMap(step.expected))
            }
        }
        // The running daemon shows one of these states too, and never a partial one.
        #expect(possible.contains(try FaultScript.seen(in: keychain)), "\(words)")
    }

    private func isRight(_ failure: any Error, _ kind: Kind) -> Bool {
        let status = (failure as? Failure)?.status
        return kind.fault == .inputOutputError ? status == .storeUnreadable : status == .diskFull
    }
}
