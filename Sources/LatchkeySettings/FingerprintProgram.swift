// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// The program `latchkey-fingerprint`, which speaks to fprintd: it links libsystemd, which its callers do not.
package enum FingerprintProgram {
    /// Its path: beside this program, in the same prefix, or in the folder of the system.
    package static func find() throws(Failure) -> String {
        let candidates = candidates()
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                .daemonUnavailable,
                "latchkey-fingerprint is not installed: looked for \(candidates.joined(separator: ", ")).",
                hint:
                    "It is part of the services of a system; see docs/services.md. fprintd-enroll enrols fingers too.")
        }
        return program
    }

    private static func candidates() -> [String] {
        let folder = Environment.executable.map { Files.folder(of: $0) }
        return [
            folder.map { $0 + "/latchkey-fingerprint" },
            folder.map { Files.folder(of: $0) + "/libexec/latchkey-fingerprint" },
        ]
        .compactMap { $0 } + ["/usr/libexec/latchkey-fingerprint"]
    }
}
