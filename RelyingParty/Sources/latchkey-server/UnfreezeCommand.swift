// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// The command `unfreeze USER KEY`: a key whose counter did not increase can be used again.
enum UnfreezeCommand {
    static func run(_ command: Invocation) throws {
        guard let key = StrictBase64.url.decode(command.words[1].utf8), key.count == 32 else {
            throw Usage("the key is not an identifier in base64url")
        }
        guard try command.service().unfreeze(key, of: command.words[0]) else {
            throw Usage("the user has no such key that is frozen")
        }
        command.write("the key can be used again; its counter begins again", [("unfrozen", .bool(true))])
    }
}
