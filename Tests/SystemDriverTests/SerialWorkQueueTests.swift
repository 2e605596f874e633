// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import LatchkeyModel
import LatchkeySeams
import Synchronization
import SystemDriver
import TestSupport
import Testing

@Suite struct SerialWorkQueueTests {
    /// Submits work and returns whether it ran on the calling thread.
    private func isDoneHere(_ queue: SerialWorkQueue, _ extent: WorkExtent) -> Bool {
        let giver = UInt(pthread_self())
        let worker = Mutex<UInt>(0)
        let done = DispatchSemaphore(value: 0)
        queue.submit(extent) {
            worker.withLock { $0 = UInt(pthread_self()) }
            done.signal()
        }
        done.wait()
        return worker.withLock { $0 } == giver
    }

    @Test func writeOfOneItemRunsOnTheCallingThreadIfNoOtherProgramIsConnected() {
        let isAlone = Atomic(true)
        let queue = SerialWorkQueue { isAlone.load(ordering: .relaxed) }
        #expect(isDoneHere(queue, .oneItem))
        #expect(!isDoneHere(queue, .any))
        isAlone.store(false, ordering: .relaxed)
        #expect(!isDoneHere(queue, .oneItem))
    }

    @Test func workRunsInTheOrderOfSubmission() {
        let queue = SerialWorkQueue { true }
        let order = Recorder<Int>()
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = DispatchSemaphore(value: 0)
        queue.submit(.any) {
            began.signal()
            goOn.wait()
            order.add(1)
        }
        began.wait()
        for number in 2...3 {
            queue.submit(.oneItem) {
                order.add(number)
                done.signal()
            }
        }
        #expect(order.all == [], "work does not overtake earlier work")
        goOn.signal()
        done.wait()
        done.wait()
        #expect(order.all == [1, 2, 3])
    }

    @Test func queryNamesOneItemByPrimaryKeyOrReference() {
        let named: Attributes = [.account: .text("a"), .service: .text("s")]
        #expect(ItemQuery(itemClass: .genericPassword, attributes: named).namesOneItem)
        #expect(ItemQuery(itemClass: nil, persistentReference: [1]).namesOneItem)
        #expect(!ItemQuery.password("a").namesOneItem)
        #expect(!ItemQuery(itemClass: .internetPassword, attributes: named).namesOneItem)
        #expect(!ItemQuery(itemClass: nil).namesOneItem)
    }
}
