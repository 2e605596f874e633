// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyJSON

/// The command `keys USER [--json]`: the keys of a user, with what is proven and what is claimed about each.
enum KeysCommand {
    static func run(_ command: Invocation) throws {
        let keys = try command.service(about: command.words[0]).keys(of: command.words[0])
        if command.has(.json) {
            Output.write(JSONValue.array(keys.map(KeyReport.json)).encoded + "\n")
        } else {
            Output.write(keys.flatMap(AccountReport.lines).map { $0 + "\n" }.joined())
        }
    }
}
