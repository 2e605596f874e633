// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Dispatch
import Testing

/// Jobs for the thread of a bus. No bus is needed: a connection is made by the first call.
@Suite(.timeLimit(.minutes(1))) struct JobTests {
    /// A job can arrive at each moment of a turn of the loop, also between the end of a wait and the next one.
    @Test func everyJobRunsAlsoIfTheThreadWasAboutToWait() throws {
        let bus = try SystemBus(address: "unix:path=/nowhere")
        defer { bus.end() }
        let threads = 4
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            let ran = DispatchSemaphore(value: 0)
            for _ in 0..<20_000 {
                bus.run { ran.signal() }
                guard ran.wait(timeout: .now() + 5) == .success else { return }
            }
            done.signal()
        }
        for _ in 0..<threads { try #require(done.wait(timeout: .now()) == .success, "a job did not run") }
    }
}
