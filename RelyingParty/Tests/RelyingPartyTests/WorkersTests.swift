// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import RelyingPartyHTTP

/// What waits for a thread that answers is limited, in all and for each network.
struct WorkersTests {
    /// Adds jobs while the only thread is busy.
    ///
    /// - Returns: the networks whose jobs were accepted, and those whose jobs were done, in this order.
    private func adding(_ networks: [[UInt8]?], most: Int) throws -> (accepted: [[UInt8]?], done: [[UInt8]?]) {
        let workers = try #require(Workers(count: 1, most: most))
        let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = Mutex<[[UInt8]?]>([])
        #expect(
            workers.add(nil) { _ in
                began.signal()
                mayEnd.wait()
            })
        began.wait()
        let accepted = networks.filter { network in workers.add(network) { _ in done.withLock { $0.append(network) } } }
        #expect(workers.counts.waiting == accepted.count)
        #expect(workers.counts.shed == UInt64(networks.count - accepted.count))
        mayEnd.signal()
        workers.stop()
        return (accepted, done.withLock(\.self))
    }

    @Test func aNetworkHasAsManyPlacesAsAreFreeAndOthersHaveTheRest() throws {
        let (flood, other, third): ([UInt8], [UInt8], [UInt8]) = ([1], [2], [3])
        let networks = [flood, other, third].map { [[UInt8]?](repeating: $0, count: 20) }.reduce([], +)
        let (accepted, done) = try adding(networks, most: 8)
        #expect(accepted == [flood, flood, flood, flood, other, other, third])
        #expect(done == accepted, "in the order in which they came")
    }

    @Test func networksOfOneSiteShareItsPlaces() throws {
        let networks = (0..<20).map { [0x20, 1, 0x0d, 0xb8, 0, 1, 0, $0] as [UInt8] }
        #expect(try adding(networks, most: 8).accepted.count == 4)
    }

    @Test func jobsWithoutANetworkCanTakeAllPlaces() throws {
        let networks = [[UInt8]?](repeating: nil, count: 10)
        #expect(try adding(networks, most: 8).accepted.count == 8)
    }

    @Test func aPlaceIsFreeAgainWhenItsJobBegins() throws {
        let workers = try #require(Workers(count: 1, most: 2))
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<100 {
            #expect(workers.add([1]) { _ in done.signal() })
            done.wait()
        }
        #expect(workers.counts == (0, 0))
        workers.stop()
    }
}
