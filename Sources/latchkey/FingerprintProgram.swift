// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The program `latchkey-fingerprint`, which this process becomes: it links libsystemd, which `latchkey` does not.
enum FingerprintProgram {
    static func run(_ verb: String, _ options: Options) throws(CommandFailure) {
        let given = [OptionName.replace, .all, .yes].filter { options.has($0) }.map(\.word)
        let candidates = candidates()
        for program in candidates where access(program, X_OK) == 0 {
            let error = Processes.become(program, [verb] + options.arguments + given)
            throw .failure(Failure(error, "\(program) cannot be started"))
        }
        throw .failure(
            Failure(
                .daemonUnavailable,
                "latchkey-fingerprint is not installed: looked for \(candidates.joined(separator: ", ")).",
                hint: "It is part of the services of a system; see docs/services.md. fprintd-enroll enrols fingers too."
            ))
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
