// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// recover: opens a keychain on a TPM with its recovery code, which is typed at the prompt only.
enum Recover {
    static func run(_ options: Options) throws(CommandFailure) {
        do throws(Failure) {
            guard case .recovered(let recovered) = try Client.command.call(.passcode(.recoverAtPrompt)) else {
                throw Failure(.internalFailure, "The daemon sent an unexpected kind of reply.")
            }
            Output.write(options.isJSON ? json(recovered) : words(recovered))
        } catch {
            throw .failure(error)
        }
    }

    private static func words(_ recovered: Reply.Recovered) -> String {
        var text = """
            The keychain is open, and the new passcode is set. The earlier recovery code is not valid any more; keep
            the new one apart from this machine.

            """
        if let accepted = recovered.accepted {
            text += """
                The keychain was refused before, and was accepted as it is now: \(accepted.message)
                Items that are bound to the enrolled fingers or faces stay unreadable.

                """
        }
        let lost = recovered.lost
        guard lost.count > 0 else { return text }
        text += """
            \(lost.count) private \(lost.count == 1 ? "key was" : "keys were") in another TPM and cannot be used any more.
            Delete each, and register a new one where it was used:

            """
        for item in lost.named { text += "  \(item.words)\n" }
        if lost.count > UInt64(lost.named.count) { text += "  and \(lost.count - UInt64(lost.named.count)) more\n" }
        return text
    }

    private static func json(_ recovered: Reply.Recovered) -> String {
        var fields: [(String, JSON)] = [("passcode", .text("recovered"))]
        if let accepted = recovered.accepted { fields.append(("accepted", .text("\(accepted.status)"))) }
        fields.append(("lost", .array(recovered.lost.named.map(\.json))))
        return JSON.object(fields).line + "\n"
    }
}
