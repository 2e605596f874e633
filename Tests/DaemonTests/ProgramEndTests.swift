// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeySystem
import Testing

struct ProgramEndTests {
    /// With exit(3) about every third of them crashes.
    @Test(arguments: 1...20) func aProgramEndsWhileItsThreadsCompute(number: Int) async {
        await #expect(processExitsWith: .exitCode(7)) {
            let computes = try WakeUp()
            for _ in 0..<4 {
                Processes.detachThread {
                    var count = 0
                    while true {
                        _ = try? PrivateKey.generate(.p256)
                        count += 1
                        if count == 20 { computes.signal() }
                    }
                }
            }
            guard try computes.descriptor.wait(for: POLLIN, until: Uptime.deadline(seconds: 60)) else { return }
            ProgramEnd.now(7)
        }
    }
}
