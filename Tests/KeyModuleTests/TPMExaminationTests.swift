// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import SystemDriver
import TPMProtocol
import TestSupport
import Testing

@testable import TPMDriver

/// What a report asks a TPM, by the one of swtpm.
@Suite(.needs(.softwareTPM)) struct TPMExaminationTests {
    @Test func tenCommandsAreTimedAndNothingIsLeftInTheTPM() throws {
        let tpm = try ProxiedTPM()
        var time: Int64 = 0
        let found = try TPMExamination(tpm, random: SystemRandomSource()) {
            time += 2_000_000
            return time
        }
        #expect(
            found.timings.map(\.command) == [
                "TPM2_FlushContext", "TPM2_GetCapability", "TPM2_GetRandom", "TPM2_ReadClock", "TPM2_StartAuthSession",
            ])
        #expect(found.timings.reduce(0) { $0 + $1.microseconds.count } == 10)
        #expect(found.timings.allSatisfy { $0.microseconds.allSatisfy { $0 == 2000 } })
        #expect(found.identity.isVirtual && !found.identity.manufacturer.isEmpty)
        #expect(found.identity.firmware.split(separator: ".").count == 4)
        #expect(try [0x80, 0x02, 0x03, 0x81].allSatisfy { try tpm.handles($0).isEmpty })
    }
}
