// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestPromises
import Testing

@testable import LatchkeySystem

/// Limits of the number of connections.
@Suite struct ConnectionCapsTests {
    private func program(_ number: Int) -> ClientProgram {
        ClientProgram(userID: 1000, executable: ExecutableFile(device: 1, inode: UInt64(number)))
    }

    /// Connects processes of a program until it is refused.
    private func takeAll(_ caps: inout ConnectionCaps, _ program: ClientProgram, processes: Range<Int32>) -> Int {
        var count = 0
        for process in processes {
            while caps.admit(process: process, program: program) == nil { count += 1 }
        }
        return count
    }

    @Test func processAndProgramAreLimitedAndRefusalSaysWhich() {
        var caps = ConnectionCaps(ConnectionCaps.Bounds())
        #expect(takeAll(&caps, program(1), processes: 1..<2) == Limits.connectionsOfProcess)
        let ofProcess = caps.admit(process: 1, program: program(1))
        #expect(ofProcess?.status == .limitExceeded && ofProcess?.message.contains("This process has 16") == true)
        #expect(
            takeAll(&caps, program(1), processes: 2..<100)
                == Limits.connectionsOfProgram - Limits.connectionsOfProcess)
        let ofProgram = caps.admit(process: 200, program: program(1))
        #expect(ofProgram?.status == .limitExceeded && ofProgram?.message.contains("of this program have 64") == true)
        #expect(caps.admit(process: 300, program: program(2)) == nil)
        caps.leave(process: 1, program: program(1))
        #expect(caps.admit(process: 1, program: program(1)) == nil)
    }

    @Test(.promise("attacker.exhaustion")) func programsThatCannotBeDeterminedShareOneCount() {
        var caps = ConnectionCaps(ConnectionCaps.Bounds())
        #expect(
            takeAll(&caps, ClientProgram(userID: 1000, executable: nil), processes: 1..<500)
                == Limits.connectionsOfProgram)
    }

    @Test(.promise("attacker.exhaustion")) func newProgramIsAdmittedWhileFewerThanSixteenOthersAreConnected() {
        for others in 1...15 {
            var caps = ConnectionCaps(ConnectionCaps.Bounds())
            // Each program takes as many connections as it gets, first in turns, then one program after another.
            for _ in 0..<4 {
                for number in 1...others {
                    _ = caps.admit(process: Int32(number), program: program(number))
                }
            }
            for number in 1...others {
                let first = Int32(number * 1000)
                _ = takeAll(&caps, program(number), processes: first..<first + 100)
            }
            #expect(caps.admit(process: 1, program: program(99)) == nil, "\(others) others")
        }
    }

    @Test func totalIsLimited() {
        var caps = ConnectionCaps(ConnectionCaps.Bounds())
        var count = 0
        for number in 1...1000 {
            count += takeAll(&caps, program(number), processes: Int32(number * 10)..<Int32(number * 10 + 9))
        }
        #expect(count == Limits.connections)
        #expect(caps.admit(process: 9, program: program(5000))?.message.contains("at most 256") == true)
    }
}
