// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import TestPromises
import Testing

@testable import SSHAgent

@Suite struct AskingTerminalTests {
    private let host: HostKey

    init() throws {
        let key = try PrivateKey.generate(.p256)
        host = try HostKey(try #require(SSHKeyBlob.encode(key.publicKey)))
    }

    /// Otherwise a passcode that is typed could reach the machine whose request it is.
    @Test(.promise("ssh.terminal")) func whatIsOrMayBeForwardedUsesNoTerminal() {
        func isOwn(_ purpose: SigningPurpose, _ program: String? = "/usr/bin/ssh") -> Bool {
            AskingTerminal.isOwn(purpose, program: program)
        }
        #expect(isOwn(.login(user: "ada", host: host, through: [])))
        #expect(!isOwn(.login(user: "ada", host: host, through: [host])))
        #expect(!isOwn(.login(user: "ada", host: nil, through: [])))
        #expect(isOwn(.message(namespace: "git", through: []), "/usr/bin/ssh-keygen"))
        #expect(!isOwn(.message(namespace: "git", through: [host]), "/usr/bin/ssh-keygen"))
        #expect(!isOwn(.message(namespace: "git", through: [])))
        #expect(!isOwn(.message(namespace: "git", through: []), nil))
    }
}
