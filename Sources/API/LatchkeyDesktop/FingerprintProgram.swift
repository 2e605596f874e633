// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
package import LatchkeyModel

/// The program `latchkey-fingerprint`, which speaks to fprintd: it links libsystemd, which its callers do not.
package enum FingerprintProgram {
    /// Its path: the first place of `ProgramSearch` that has it.
    package static func find() throws(Failure) -> String {
        try ProgramSearch("latchkey-fingerprint").find(
            hint: "It is part of the services of a system; see services.md. fprintd-enroll enrols fingers too.")
    }
}
