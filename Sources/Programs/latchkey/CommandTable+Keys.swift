// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutKeys: Phrase = """
        Keys are stored as apps store them: NAME is the application tag. A protected key prompts on the terminal first.
        Signatures and ciphertexts are bytes; --hex and --base64 write and read them as text.
        """

    private static let digest = [
        CommandOption(.hash, "the digest that is signed: sha256 (default), sha384, sha512"),
        CommandOption(.pss, "RSA with PSS, its salt as long as the digest"),
    ]
    static let form = [
        CommandOption(.hex, "bytes as hexadecimal digits"), CommandOption(.base64, "bytes as base64"),
    ]
    static let result = [
        CommandOption(.output, "write the result into a file"), .replaceFile,
    ]

    static let keys = [
        CommandEntry(
            "key create", "make a key pair", [CommandArgument("NAME")],
            [
                CommandOption(.type, "\(KeyChoice.list); p256 is the default"),
                CommandOption(.enclave, "of type p256: the private half never leaves the enclave"),
                CommandOption(.ssh, "for latchkey ssh-agent only: of the enclave, with presence if no RULE is given"),
                CommandOption(.protect, "what releases the private half, as for latchkey set; none is the default"),
                .deviceOnly,
                CommandOption(.label, "a text that list shows"),
            ], about: "Makes a key pair and stores both halves. The public half can be shown without a proof.",
            action: KeyCommand.create),
        CommandEntry("key list", "show the keys of this access group; never prompts", action: KeyCommand.list),
        CommandEntry(
            "key public", "write the public half", [.key],
            [CommandOption(.format, "pem (default), der, ssh, jwk, x963 (a point, for curves only)")] + form + result,
            action: KeyCommand.writePublic),
        CommandEntry(
            "key sign", "sign a file or standard input", [.key, .input], digest + form + result,
            about: "Signs a file or standard input: ECDSA in DER, or RSA with PKCS#1 v1.5.", action: KeyUse.sign),
        CommandEntry(
            "key verify", "check a signature: exit code 0 if it is valid, 1 if not", [.key, .input],
            [CommandOption(.signature, "the signature (required)")] + digest + form, action: KeyUse.verify),
        CommandEntry(
            "key encrypt", "encrypt for the owner of the private half", [.key, .input], form + result,
            about: """
                Encrypts a file or standard input, at most 64 MiB, for the owner of the private half: ECIES, or
                RSA-OAEP, with SHA-256 and AES-GCM.
                """, action: KeyUse.encrypt),
        CommandEntry(
            "key decrypt", "decrypt what encrypt wrote", [.key, .input], form + result, action: KeyUse.decrypt),
        CommandEntry(
            "key delete", "delete both halves; there is no undo", [.key],
            [CommandOption(.yes, "delete it without asking")],
            about: """
                Deletes both halves of every key of that name. What was encrypted for a deleted key cannot be read any
                more, and there is no undo: so it asks you to type delete, unless --yes is given.
                """, action: KeyCommand.delete),
    ]
}
