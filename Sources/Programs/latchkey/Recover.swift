// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel

/// recover: opens a keychain on a TPM with its recovery code, which is typed at the prompt only.
enum Recover {
    static func run(_ options: Options) throws(CommandFailure) {
        if !options.isJSON { Output.write(endangered) }
        try failing { () throws(Failure) in
            let recovered = try Client.command.call(Request.RecoverAtPrompt())
            Output.write(options.isJSON ? json(recovered) : words(recovered))
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
            let message = localized(accepted.message)
            text +=
                localized(
                    """
                    The keychain was refused before, and was accepted as it is now: \(message)
                    Items that are bound to the enrolled fingers or faces stay unreadable.
                    """) + "\n"
        }
        let lost = recovered.lost
        guard lost.count > 0 else { return text }
        text +=
            lost.named.first?.reason == .earlierPasscode
            ? localized.count(
                Int(clamping: lost.count),
                "Only the earlier passcode released \(lost.count) private key, which cannot be used any more.",
                "Only the earlier passcode released \(lost.count) private keys, which cannot be used any more.")
            : localized.count(
                Int(clamping: lost.count), "\(lost.count) private key was in another TPM and cannot be used any more.",
                "\(lost.count) private keys were in another TPM and cannot be used any more.")
        text += "\n" + localized("Delete each, and register a new one where it was used:") + "\n\n"
        return text + SkippedItems.lines(lost.named, of: lost.count)
    }

    /// The private keys of this command's own groups that only the present passcode releases, with a line about them; empty
    /// if there are none, and for a keychain that cannot be listed now. The list afterwards has the keys of all groups.
    private static var endangered: String {
        // In other tiers the daemon refuses the recovery.
        guard let report = try? Client.command.call(Request.Status()), report.tier == .tpm else { return "" }
        let items = (try? Client.command.items(ItemQuery(itemClass: .key))) ?? []
        let keys = items.filter(\.isReleasedByPasscodeOnly)
        guard !keys.isEmpty else { return "" }
        let named = keys.prefix(Limits.skippedItems).map { SkippedItem($0.itemClass, $0.attributes, .earlierPasscode) }
        return localized(
            "Only the present passcode releases these private keys. After the recovery they cannot be used any more:")
            + "\n\n" + SkippedItems.lines(named, of: UInt64(keys.count)) + "\n"
    }

    private static func json(_ recovered: Reply.Recovered) -> String {
        var fields: [(String, JSON)] = [("passcode", .text("recovered"))]
        if let accepted = recovered.accepted { fields.append(("accepted", .text("\(accepted.status)"))) }
        fields.append(("lost", .array(recovered.lost.named.map(\.json))))
        return JSON.object(fields).line + "\n"
    }
}
