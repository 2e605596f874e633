// SPDX-License-Identifier: Apache-2.0

import Glibc
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

    /// Sets the access control of new items.
    static func protect(_ options: Options) throws(CommandFailure) {
        let name = options.arguments[0]
        let control = try AccessControl(protection: name, staysHere: false)
        try failing { () throws(Failure) in
            let client = Client.command
            try control.checkIsPossible(client.call(Request.Status()))
            guard let job = TerminalJob(getpid()) else {
                throw Failure(.internalFailure, "The start time of this process cannot be read.")
            }
            let process = ProcessName(processID: getpid(), startTime: job.startTime, userID: geteuid())
            _ = try client.call(
                Request.UseSecrets(
                    process: process, isPinned: true, action: .protectNew(collection: SecretService.login, control)))
        }
        Output.write(localized("New items of programs demand: \(name).") + "\n")
    }
}
