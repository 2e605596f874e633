// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import Testing

@Suite struct GateTests {
    @Test func whatArrivesWhileTheGateOpensIsPassedOnInOrder() {
        let gate = Gate<Int>()
        for value in 1...2 { #expect(gate.enter(value) == .waits) }
        var received: [Int] = []
        let isOpen = gate.open { value in
            if value == 1 { #expect(gate.enter(3) == .waits) }
            received.append(value)
        }
        #expect(isOpen && received == [1, 2, 3])
        #expect(gate.enter(4) == .open)
        #expect(gate.next() == [])
    }

    @Test func aValueBeyondTheLimitIsNotHeld() {
        let gate = Gate<Int>()
        #expect(gate.enter(1, limit: 1) == .waits)
        #expect(gate.enter(2, limit: 1) == .full)
        #expect(gate.enter(3, limit: 2) == .waits)
        #expect(gate.next() == [1, 3])
        #expect(gate.enter(4, limit: 1) == .waits)
    }

    @Test func aGateThatHasEndedPassesNothingOn() {
        let gate = Gate<Int>()
        _ = gate.enter(1)
        _ = gate.enter(2)
        var received: [Int] = []
        let isOpen = gate.open { value in
            received.append(value)
            _ = gate.enter(3)
            #expect(!gate.end())
        }
        #expect(!isOpen && received == [1, 2])
        #expect(gate.enter(4) == .ended && gate.next() == nil)
    }

    @Test func aGateThatOpensAtOnceHoldsNothingMore() {
        let gate = Gate<Int>()
        _ = gate.enter(1)
        #expect(gate.openAtOnce() == [1])
        #expect(gate.enter(2) == .open && gate.openAtOnce().isEmpty)
    }

    @Test func theEndSaysWhetherTheGateWasOpen() {
        let gate = Gate<Int>()
        #expect(gate.open { _ in } && gate.end() && !gate.end())
    }
}
