// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import Testing

@Suite struct MonitorTests {
    @Test func aThreadWaitsForTheValueOfAnother() {
        let numbers = Monitor<[Int]>([])
        let sum = Monitor<Int?>(nil)
        Processes.detachThread {
            var total = 0
            for _ in 1...3 { total += numbers.wait { $0.isEmpty ? nil : $0.removeFirst() } }
            sum.change { $0 = total }
        }
        for number in 1...3 { numbers.change { $0.append(number) } }
        #expect(sum.wait { $0 } == 6)
        #expect(numbers.withLock { $0.isEmpty })
    }

    @Test func aWaitEndsWithItsTimeAndLooksAtTheValueOnceMore() {
        let monitor = Monitor(0)
        let seen: Int? = monitor.wait(seconds: 0) { looks in
            looks += 1
            return looks == 2 ? looks : nil
        }
        #expect(seen == 2)
        let none: Int? = monitor.wait(seconds: 0) { _ in nil }
        #expect(none == nil)
    }
}
