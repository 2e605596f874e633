// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyJSON

/// The command `delete USER`.
enum DeleteCommand {
    static func run(_ command: Invocation) throws {
        guard let count = try command.service().delete(command.words[0]) else {
            throw Usage("nothing is stored of this user")
        }
        command.write(
            "deleted the user and \(count) keys; the audit log keeps rows without the name",
            [("deletedKeys", .integer(Int64(count)))])
    }
}
