// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyFormats
import TestSupport
import Testing

/// Compares the formats with the output of `openssl` and `ssh-keygen`.
@Suite struct OtherProgramTests {
    @Test(arguments: KeyChoice.allCases) func outputMatchesOpenSSL(choice: KeyChoice) throws {
        let program = try OtherProgram()
        let (algorithm, option) = choice.openSSL
        try program.run("openssl", "genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", "key.pem")
        try program.run("openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "public.pem")
        let der = try program.run("openssl", "pkey", "-in", "key.pem", "-pubout", "-outform", "DER")

        let key = try PortablePublicKey(pem: program.text("public.pem"))
        #expect(key.bitCount == choice.bitCount)
        #expect(try key.pem == program.text("public.pem"))
        #expect(try PortablePublicKey(der: der) == key)
        #expect(Data(key.der) == der)
    }

    @Test(arguments: KeyChoice.allCases) func outputMatchesSSHKeygen(choice: KeyChoice) throws {
        let program = try OtherProgram()
        let isRSA = choice.openSSL.algorithm == "RSA"
        try program.run(
            "ssh-keygen", "-q", "-t", isRSA ? "rsa" : "ecdsa", "-b", "\(choice.bitCount)", "-N", "", "-C",
            "user at work", "-f", "key")
        let line = try program.text("key.pub")
        let (key, comment) = try PortablePublicKey.readOpenSSH(line)
        #expect(comment == "user at work")
        #expect(try key.openSSH(comment: comment) + "\n" == line)

        // ssh-keygen converts the key to the same PEM.
        let pem = try program.run("ssh-keygen", "-e", "-m", "PKCS8", "-f", "key.pub")
        #expect(key.pem == String(decoding: pem, as: UTF8.self))
        #expect(try PortablePublicKey(pem: String(decoding: pem, as: UTF8.self)) == key)
        try program.write("ours.pub", key.openSSH() + "\n")
        let fingerprint = try program.run("ssh-keygen", "-l", "-f", "ours.pub")
        #expect(String(decoding: fingerprint, as: UTF8.self).hasPrefix("\(choice.bitCount) SHA256:"))
    }

    @Test(arguments: KeyChoice.allCases) func everyFormatRoundTrips(choice: KeyChoice) throws {
        let key = try key(choice)
        #expect(try PortablePublicKey(externalRepresentation: key.externalRepresentation) == key)
        #expect(try PortablePublicKey(der: key.der) == key)
        #expect(try PortablePublicKey(pem: key.pem) == key)
        #expect(try PortablePublicKey(openSSH: key.openSSH()) == key)
        #expect(try PortablePublicKey(jwk: key.jwk) == key)
        // A JSON parser reads the same members from the text.
        let read = try JSONSerialization.jsonObject(with: Data(key.jwkText.utf8)) as? [String: String]
        #expect(read == key.jwk)
    }
}

/// Generates a key with `openssl`.
func key(_ choice: KeyChoice) throws -> PortablePublicKey {
    let program = try OtherProgram()
    let (algorithm, option) = choice.openSSL
    try program.run("openssl", "genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", "key.pem")
    return try PortablePublicKey(der: program.run("openssl", "pkey", "-in", "key.pem", "-pubout", "-outform", "DER"))
}
