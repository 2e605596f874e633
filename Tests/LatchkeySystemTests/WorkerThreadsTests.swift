// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import Testing

@Suite struct WorkerThreadsTests {
    private let workers = WorkerThreads()

    @Test func workThatBlocksDelaysNoOtherWork() {
        let isReleased = Monitor(false)
        let ended = Monitor(0)
        for _ in 0..<8 {
            let isBegun = workers.run {
                isReleased.wait { $0 ? () : nil }
                ended.change { $0 += 1 }
            }
            #expect(isBegun)
        }
        let other = Monitor(false)
        #expect(workers.run { other.change { $0 = true } })
        other.wait { $0 ? () : nil }
        #expect(ended.withLock { $0 } == 0)
        isReleased.change { $0 = true }
        ended.wait { $0 == 8 ? () : nil }
    }

    @Test func everyPieceOfWorkRunsOnce() {
        let counts = Monitor([Int](repeating: 0, count: 1000))
        for part in 0..<4 {
            Processes.detachThread { [workers] in
                for number in 0..<250 {
                    #expect(workers.run { counts.change { $0[part * 250 + number] += 1 } })
                }
            }
        }
        counts.wait { $0.contains(0) ? nil : () }
        #expect(counts.withLock { $0.allSatisfy { $0 == 1 } })
    }

    /// Such as a secret.
    private final class Value: Sendable {
        let isGone: Monitor<Bool>
        init(_ isGone: Monitor<Bool>) { self.isGone = isGone }
        deinit { isGone.change { $0 = true } }
    }

    @Test func aThreadThatWaitsRefersToNothingOfItsWork() {
        for _ in 0..<3 {
            let isGone = Monitor(false)
            run(Value(isGone))
            #expect(isGone.wait(seconds: 10) { $0 ? true : nil } == true)
        }
    }

    private func run(_ value: Value) { #expect(workers.run { withExtendedLifetime(value) {} }) }
}
