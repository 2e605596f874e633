// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// The program `latchkey-fingerprint`, which this process becomes: it links libsystemd, which `latchkey` does not.
enum FingerprintCommand {
    static func run(_ verb: String, _ options: Options) throws(CommandFailure) {
        let given = [OptionName.replace, .all, .yes, .json].filter { options.has($0) }.map(\.word)
        let reader = options[.reader].map { [OptionName.reader.word, $0] } ?? []
        let program = try failing { () throws(Failure) in try FingerprintProgram.find() }
        let error = Processes.become(program, [verb] + options.arguments + reader + given)
        throw .failure(Failure(error, "\(program) cannot be started"))
    }
}
