// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// The program `latchkey-secrets`, which this process becomes: it links libsystemd, which `latchkey` does not.
enum SecretsCommand {
    static func run(_ verb: String, _ options: Options) throws(CommandFailure) {
        let given = [OptionName.dryRun, .json].filter { options.has($0) }.map(\.word)
        let forgotten = options[.forget].map { [OptionName.forget.word, $0] } ?? []
        let program = try failing { () throws(Failure) in
            try ProgramSearch("latchkey-secrets").find(
                hint: "It is part of the services of a system; see services.md.")
        }
        let error = Processes.become(program, [verb] + given + forgotten)
        throw .failure(Failure(error, "\(program) cannot be started"))
    }
}
