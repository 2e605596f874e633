// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySettings

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
        var text =
            localized(
                """
                The keychain is open, and the new passcode is set. The earlier recovery code is not valid any more; keep
                the new one apart from this machine.
                """) + "\n"
        if let accepted = recovered.accepted {
            let message = localized.translation(of: accepted.message)
            text +=
                localized(
                    """
                    The keychain was refused before, and was accepted as it is now: \(message)
                    Items that are bound to the enrolled fingers or faces stay unreadable.
                    """) + "\n"
        }
        let lost = recovered.lost
        guard lost.count > 0 else { return text }
        let first = localized.count(
            Int(clamping: lost.count), "\(lost.count) private key was in another TPM and cannot be used any more.",
            "\(lost.count) private keys were in another TPM and cannot be used any more.")
        text += first + "\n" + localized("Delete each, and register a new one where it was used:") + "\n"
        return text + Staying.lines(lost.named, of: lost.count)
    }

    private static func json(_ recovered: Reply.Recovered) -> String {
        var fields: [(String, JSON)] = [("passcode", .text("recovered"))]
        if let accepted = recovered.accepted { fields.append(("accepted", .text("\(accepted.status)"))) }
        fields.append(("lost", .array(recovered.lost.named.map(\.json))))
        return JSON.object(fields).line + "\n"
    }
}
