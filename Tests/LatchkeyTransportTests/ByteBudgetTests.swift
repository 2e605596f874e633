// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import Synchronization
import TestPromises
import Testing

@testable import LatchkeySystem

/// Limits of the memory that connections occupy.
@Suite struct ByteBudgetTests {
    private let bounds: ByteBudget.Bounds

    init() {
        var bounds = ByteBudget.Bounds()
        (bounds.total, bounds.program, bounds.always, bounds.reserved) = (1000, 400, 10, 200)
        self.bounds = bounds
    }

    private func program(_ number: UInt64) -> ClientProgram {
        ClientProgram(userID: 1000, executable: ExecutableFile(device: 1, inode: number))
    }

    @Test(.promise("attacker.exhaustion")) func readingStopsForProgramThatHoldsItsShareOnly() {
        let budget = ByteBudget(bounds) {}
        let held = budget.hold(400, for: budget.share(of: program(1)))
        #expect(!budget.mayRead(budget.share(of: program(1))))
        #expect(budget.reserve(1, for: budget.share(of: program(1))) == nil)
        #expect(budget.mayRead(budget.share(of: program(2))))
        withExtendedLifetime(held) {}
    }

    @Test func smallFramesOfIdleProgramAreReadWhenTotalIsExceeded() {
        let budget = ByteBudget(bounds) {}
        let held = (1...4).map { budget.hold(390, for: budget.share(of: program($0))) }
        #expect(!budget.mayRead(budget.share(of: program(1))), "all programs together exceed the total")
        #expect(budget.mayRead(budget.share(of: program(5))))
        withExtendedLifetime(held) {}
    }

    @Test func reservedBytesAreForLargeFramesOfIdlePrograms() {
        let budget = ByteBudget(bounds) {}
        let held = [
            budget.hold(390, for: budget.share(of: program(1))), budget.hold(390, for: budget.share(of: program(2))),
        ]
        let small = budget.hold(20, for: budget.share(of: program(3)))
        #expect(budget.reserve(100, for: budget.share(of: program(3))) == nil)
        let newcomer = budget.reserve(200, for: budget.share(of: program(4)))
        #expect(newcomer != nil)
        #expect(budget.reserve(1, for: budget.share(of: program(5))) == nil, "the total is reached")
        withExtendedLifetime((held, small, newcomer)) {}
    }

    @Test func releaseWakesServerOnceAndOnlyIfConnectionWaits() {
        let count = Mutex(0)
        let budget = ByteBudget(bounds) { count.withLock { $0 += 1 } }
        do { _ = budget.hold(10, for: budget.share(of: program(1))) }
        #expect(count.withLock { $0 } == 0)
        var held = [
            budget.hold(400, for: budget.share(of: program(1))), budget.hold(1, for: budget.share(of: program(1))),
        ]
        #expect(!budget.mayRead(budget.share(of: program(1))))
        held.removeAll()
        #expect(count.withLock { $0 } == 1)
        #expect(budget.total == 0 && budget.mayRead(budget.share(of: program(1))))
    }

    // MARK: - With a server

    @Test func serverPausesReadingAtProgramShareAndResumesAfterAnswers() throws {
        var setting = EchoServer.Setting()
        setting.bytes.program = 450_000
        setting.keepsWhatFramesHold = true
        let echo = try EchoServer(setting)
        defer { echo.stop() }
        // Each frame needs a reservation, and exceeds the socket's buffer.
        let client = try echo.connect()
        let payload = [UInt8](repeating: 7, count: 150_000)
        Processes.detachThread { for _ in 0..<9 { try? client.send(frame: payload) } }
        var seen = 0
        for round in 0..<4 {
            while seen < min(9, 2 * (round + 1)) {
                #expect(try client.receive()?.count == payload.count)
                seen += 1
            }
            // Two frames hold 300,000 bytes, so a third does not fit. The server must process the connection to pause
            // it.
            try echo.settle()
            #expect(echo.heldFrames == 2)
            #expect(echo.server.budget.total <= 450_000)
            echo.release()
        }
        #expect(try client.receive()?.count == payload.count)
        echo.release()
        try echo.settle()
        #expect(echo.heldFrames <= 1)
    }
}
