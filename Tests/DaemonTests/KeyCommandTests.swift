// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A kind of key pair that the command creates.
enum MadeKey: CaseIterable {
    case p256, p384, p521, rsa2048, enclave

    var options: [String] {
        switch self {
        case .p256: []
        case .p384: ["--type", "p384"]
        case .p521: ["--type", "p521"]
        case .rsa2048: ["--type", "rsa2048"]
        case .enclave: ["--enclave"]
        }
    }

    var bitCount: Int {
        switch self {
        case .p256, .enclave: 256
        case .p384: 384
        case .p521: 521
        case .rsa2048: 2048
        }
    }
}

/// Tests of `latchkey key` as scripts use it, verified with `openssl` and `ssh-keygen`.
@Suite struct KeyCommandTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon(simulated: true) }

    private func key(_ arguments: String..., input: String = "") throws -> Finished {
        try daemon.run("latchkey", ["key"] + arguments, input: input)
    }

    private func done(_ arguments: String..., input: String = "") throws -> String {
        let finished = try daemon.run("latchkey", ["key"] + arguments, input: input)
        #expect(finished.exitCode == 0, "\(arguments): \(finished.errors)")
        #expect(finished.errors.isEmpty, "\(finished.errors)")
        return finished.output
    }

    private func create(_ made: MadeKey, _ name: String = "k") throws {
        let finished = try daemon.run("latchkey", ["key", "create", name] + made.options)
        try #require(finished.exitCode == 0, "\(finished.errors)")
        #expect(finished.output.isEmpty && finished.errors.isEmpty)
    }

    private func path(_ name: String) -> String { daemon.folder + "/" + name }

    private func openssl(_ arguments: String...) throws -> Finished {
        try daemon.run("/usr/bin/openssl", arguments)
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        try #require(try Files.read(path(name), limit: 1 << 24)).copyBytes()
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Files.replace(path(name), with: SecretBytes(bytes))
    }

    // MARK: - Signatures

    @Test(arguments: MadeKey.allCases) func opensslVerifiesSignatures(made: MadeKey) throws {
        try create(made)
        // Longer than the buffer with which it is read.
        try daemon.write(String(repeating: "message ", count: 50_000), to: "message")
        #expect(try done("public", "k", "--output", path("public.pem")).isEmpty)
        for hash in ["sha256", "sha384", "sha512"] {
            let file = path("\(hash).sig")
            #expect(try done("sign", "k", "--hash", hash, "--output", file, path("message")).isEmpty)
            let verified = try openssl(
                "dgst", "-\(hash)", "-verify", path("public.pem"), "-signature", file, path("message"))
            #expect(verified.output == "Verified OK\n", "\(hash)")
            #expect(
                try done("verify", "k", "--hash", hash, "--signature", file, path("message"))
                    == "The signature is valid.\n")
        }
        let other = try key("verify", "k", "--hash", "384", "--signature", path("sha256.sig"), path("message"))
        #expect(other.exitCode == 1 && other.output.isEmpty)
    }

    @Test func opensslVerifiesPSSSignature() throws {
        try create(.rsa2048)
        try daemon.write("message", to: "message")
        _ = try done("public", "k", "--output", path("public.pem"))
        _ = try done("sign", "k", "--pss", "--output", path("sig"), path("message"))
        let verified = try openssl(
            "dgst", "-sha256", "-verify", path("public.pem"), "-signature", path("sig"), "-sigopt",
            "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32", path("message"))
        #expect(verified.output == "Verified OK\n", "\(verified.errors)")
        #expect(try key("verify", "k", "--pss", "--signature", path("sig"), path("message")).exitCode == 0)
        let other = try key("verify", "k", "--signature", path("sig"), path("message"))
        #expect(other.exitCode == 1 && other.errors.contains("--pss"))
    }

    @Test(arguments: [MadeKey.p256, .rsa2048, .enclave]) func signaturesCanBeText(made: MadeKey) throws {
        try create(made)
        let signature = try done("sign", "k", "--base64", input: "message")
        #expect(signature.hasSuffix("\n"))
        try daemon.write(signature, to: "sig")
        #expect(
            try done("verify", "k", "--base64", "--signature", path("sig"), input: "message")
                == "The signature is valid.\n")
        try daemon.write(try done("sign", "k", "--hex", "-", input: "message"), to: "sig")
        #expect(try key("verify", "k", "--hex", "--signature", path("sig"), input: "message").exitCode == 0)
    }

    @Test(arguments: [MadeKey.p256, .rsa2048, .enclave]) func changedMessageOrSignatureFails(made: MadeKey) throws {
        try create(made)
        try daemon.write("message", to: "message")
        _ = try done("sign", "k", "--output", path("sig"), path("message"))
        let wrong = try key("verify", "k", "--signature", path("sig"), input: "messagf")
        #expect(wrong.exitCode == 1 && wrong.output.isEmpty)
        #expect(wrong.errors.hasPrefix("error: The signature is not valid"), "\(wrong.errors)")
        let signature = try bytes("sig")
        for changed in [Array(signature.dropLast()), signature + [0], [], signature.map { $0 ^ 1 }] {
            try write(changed, to: "changed")
            #expect(try key("verify", "k", "--signature", path("changed"), path("message")).exitCode == 1)
        }
        try create(.p256, "other")
        #expect(try key("verify", "other", "--signature", path("sig"), path("message")).exitCode == 1)
        #expect(try key("verify", "k", "--hex", "--signature", path("sig"), path("message")).exitCode == 1)
    }

    // MARK: - Public keys

    @Test(arguments: MadeKey.allCases) func otherProgramsReadPublicKey(made: MadeKey) throws {
        try create(made)
        let pem = try done("public", "k")
        try daemon.write(pem, to: "public.pem")
        #expect(try openssl("pkey", "-pubin", "-in", path("public.pem"), "-pubout").output == pem)
        _ = try done("public", "k", "--format", "der", "--output", path("public.der"))
        let read = try openssl("pkey", "-pubin", "-inform", "DER", "-in", path("public.der"), "-pubout")
        #expect(read.output == pem)
        try daemon.write(try done("public", "k", "--format", "ssh"), to: "public.ssh")
        let fingerprint = try daemon.run("/usr/bin/ssh-keygen", ["-l", "-f", path("public.ssh")])
        #expect(fingerprint.output.hasPrefix("\(made.bitCount) SHA256:"), "\(fingerprint.errors)")
        #expect(fingerprint.output.contains(" k "), "the key's name is the comment")
        let back = try daemon.run("/usr/bin/ssh-keygen", ["-e", "-m", "PKCS8", "-f", path("public.ssh")])
        #expect(back.output == pem)
        #expect(try done("public", "k", "--format", "jwk").hasPrefix(made == .rsa2048 ? "{\"e\":" : "{\"crv\":\"P-"))
        let point = try key("public", "k", "--format", "x963", "--hex")
        guard made != .rsa2048 else {
            #expect(point.exitCode == 1)
            return
        }
        #expect(point.output.hasPrefix("04") && point.output.utf8.count == 4 * ((made.bitCount + 7) / 8) + 3)
    }

    // MARK: - Ciphers

    @Test(arguments: MadeKey.allCases) func decryptionRestoresPlaintext(made: MadeKey) throws {
        try create(made)
        let message = String(repeating: "secret \n", count: 40_000)
        try daemon.write(message, to: "message")
        _ = try done("encrypt", "k", "--output", path("sealed"), path("message"))
        #expect(try done("decrypt", "k", path("sealed")) == message)
        #expect(try bytes("sealed").count > message.utf8.count)
        let text = try done("encrypt", "k", "--base64", input: "short")
        #expect(try done("decrypt", "k", "--base64", input: text) == "short")
        #expect(try done("encrypt", "k", "--base64", input: "short") != text, "each encryption differs")
        let nothing = try done("encrypt", "k", "--hex")
        #expect(try done("decrypt", "k", "--hex", input: nothing).isEmpty)
    }

    @Test(arguments: [MadeKey.p256, .rsa2048, .enclave]) func changedCiphertextIsRefused(made: MadeKey) throws {
        try create(made)
        _ = try done("encrypt", "k", "--output", path("sealed"), input: "secret")
        let sealed = try bytes("sealed")
        for position in [0, 1, sealed.count / 2, sealed.count - 17, sealed.count - 1] {
            var changed = sealed
            changed[position] ^= 1
            try write(changed, to: "changed")
            let refused = try key("decrypt", "k", path("changed"))
            #expect(refused.exitCode == 1 && refused.output.isEmpty, "\(position)")
            #expect(refused.errors.contains("not encrypted for this key, or has been changed"), "\(refused.errors)")
        }
        for changed in [Array(sealed.dropLast()), sealed + [0], []] {
            try write(changed, to: "changed")
            #expect(try key("decrypt", "k", path("changed")).exitCode == 1)
        }
        try create(.p256, "other")
        #expect(try key("decrypt", "other", path("sealed")).exitCode == 1)
    }

    // MARK: - Files

    @Test func fileIsReplacedOnlyOnRequestAndIsPrivate() throws {
        try create(.p256)
        _ = try done("sign", "k", "--output", path("sig"), input: "one")
        let first = try bytes("sig")
        let refused = try key("sign", "k", "--output", path("sig"), input: "two")
        #expect(refused.exitCode == 73 && refused.errors.contains("--replace"))
        #expect(try bytes("sig") == first)
        _ = try done("sign", "k", "--replace", "--output", path("sig"), input: "two")
        #expect(try bytes("sig") != first)
        #expect(try Descriptor.open(path("sig"), O_RDONLY).status().mode & 0o777 == 0o600)
        // A file left by a killed run, or created by another user.
        try daemon.write("a secret that was longer", to: "other.partial")
        chmod(path("other.partial"), 0o666)
        _ = try done("sign", "k", "--output", path("other"), input: "two")
        #expect(try Descriptor.open(path("other"), O_RDONLY).status().mode & 0o777 == 0o600)
        // A file that another run is still writing.
        try daemon.write("half", to: "third.partial")
        let half = try Descriptor.open(path("third.partial"), O_WRONLY)
        #expect(flock(half.number, LOCK_EX) == 0)
        let early = try key("sign", "k", "--output", path("third"), input: "two")
        #expect(early.exitCode == 73 && early.errors.contains("Another program is writing"), "\(early)")
        #expect(try bytes("third.partial") == Array("half".utf8))
        #expect(try key("sign", "k", path("absent")).exitCode == 66)
        #expect(try key("encrypt", "k", path("absent")).exitCode == 66)
        #expect(try key("verify", "k", "--signature", path("absent")).exitCode == 66)
    }

    // MARK: - Names

    @Test func everyVerbReportsMissingKey() throws {
        try daemon.write("x", to: "sig")
        for arguments in [
            ["sign", "no"], ["verify", "no", "--signature", path("sig")], ["encrypt", "no"], ["decrypt", "no"],
            ["public", "no"], ["delete", "no"],
        ] {
            let refused = try daemon.run("latchkey", ["key"] + arguments)
            #expect(refused.exitCode == 66, "\(arguments)")
            #expect(refused.errors == "error: There is no key no.\nhint: See: latchkey key list\n")
        }
    }

    @Test(arguments: [MadeKey.p256, .enclave]) func keyNameIsUnique(made: MadeKey) throws {
        try create(made)
        let before = try done("public", "k")
        for options in [[], ["--enclave"], ["--type", "p384"]] {
            let refused = try daemon.run("latchkey", ["key", "create", "k"] + options)
            #expect(refused.exitCode == 73 && refused.errors.contains("latchkey key delete k"), "\(refused.errors)")
        }
        #expect(try done("public", "k") == before)
        #expect(try done("delete", "k", "--yes").isEmpty)
        #expect(try key("public", "k").exitCode == 66)
        #expect(try done("list", "--json") == "[]\n", "both halves were deleted")
        try create(made)
        #expect(try done("public", "k") != before)
    }

    @Test func ambiguousKeyNameIsRefused() throws {
        try create(.p256)
        let list = try done("list", "--json")
        // Another program of the same access group stores a second key pair with the same tag.
        let client = try RawClient(daemon, hello: Request.Hello(application: "test"))
        let second = Request.CreateEnclaveKey(
            attributes: [.applicationTag: .text("k")],
            accessControl: AccessControl(constraints: .privateKeyUsage), isPermanent: true,
            authentication: Authentication())
        guard case .enclaveKey = try client.call(.createEnclaveKey(second)) else {
            Issue.record("no key was made")
            return
        }
        let refused = try key("sign", "k", "--hex", input: "x")
        #expect(refused.exitCode == 1 && refused.errors.contains("2 keys have the name k"), "\(refused.errors)")
        #expect(try done("list", "--json").utf8.count > list.utf8.count)
    }

    @Test func wrongUsageIsExplained() throws {
        try create(.p256)
        for arguments in [
            [], ["dance"], ["create"], ["create", ""], ["create", "a", "b"], ["list", "k"], ["sign"],
            ["sign", "k", "a", "b"], ["verify", "k"], ["public"], ["delete"], ["create", "x", "--type", "ed25519"],
            ["create", "x", "--enclave", "--type", "p384"], ["create", "x", "--enclave", "--type", "rsa2048"],
            ["create", "x", "--protect", "luck"], ["sign", "k", "--hash", "md5"], ["sign", "k", "--pss"],
            ["sign", "k", "--hex", "--base64"], ["public", "k", "--format", "openpgp"],
            ["sign", "k", "--json", "--output", path("x")], ["sign", "k", "--hash"],
        ] {
            let refused = try daemon.run("latchkey", ["key"] + arguments)
            #expect(refused.exitCode == 64, "\(arguments) \(refused.exitCode)")
            #expect(refused.errors.hasPrefix("error: ") && refused.errors.contains("hint: "), "\(refused.errors)")
        }
        #expect(try key("--help").output.hasPrefix("usage: latchkey key VERB"))
        #expect(!Files.exists(path("x")))
    }

    // MARK: - Output for programs

    @Test func listShowsKeysAndNoSecret() throws {
        _ = try done("create", "soft", "--label", "Work \u{1b}[31mred")
        _ = try done("create", "hard", "--enclave", "--label", "Release")
        _ = try done("create", "long", "--type", "rsa2048")
        let lines = try done("list").split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            lines == [
                "NAME KIND SIZE WHERE PROTECTION LABEL", "hard p256 256 enclave (software) none Release",
                "long rsa 2048 keychain none", "soft p256 256 keychain none Work \u{fffd}[31mred",
            ])
        let json = try done("list", "--json")
        #expect(
            json.contains(
                "{\"name\":\"hard\",\"type\":\"p256\",\"bits\":256,\"private\":true,\"where\":\"enclave\","
                    + "\"enclave\":\"software\",\"ssh\":false,\"protection\":\"none\",\"label\":\"Release\","
                    + "\"group\":\"test\"}"))
        #expect(json.contains("\"name\":\"soft\"") && json.contains("\\u001b[31mred"))
    }

    @Test func everyVerbWritesJSON() throws {
        let made = try done("create", "k", "--json")
        #expect(
            made
                == "{\"name\":\"k\",\"type\":\"p256\",\"bits\":256,\"private\":true,\"where\":\"keychain\","
                + "\"enclave\":null,\"ssh\":false,\"protection\":\"none\",\"label\":\"\",\"group\":\"test\"}\n")
        let signed = try done("sign", "k", "--json", input: "message")
        #expect(signed.hasPrefix("{\"name\":\"k\",\"algorithm\":\"ecdsa-sha256\",\"signature\":\""))
        try daemon.write(try #require(signed.member("signature")), to: "sig")
        let verified = try done("verify", "k", "--json", "--base64", "--signature", path("sig"), input: "message")
        #expect(verified == "{\"name\":\"k\",\"algorithm\":\"ecdsa-sha256\",\"valid\":true}\n")
        let wrong = try key("verify", "k", "--json", "--base64", "--signature", path("sig"), input: "another")
        #expect(wrong.exitCode == 1 && wrong.output.hasSuffix("\"valid\":false}\n"))
        let sealed = try #require(try done("encrypt", "k", "--json", input: "secret").member("ciphertext"))
        #expect(
            try done("decrypt", "k", "--json", "--base64", input: sealed)
                == "{\"name\":\"k\",\"plaintext\":\"secret\",\"hex\":\"736563726574\"}\n")
        let bare = try done("encrypt", "k", "--base64")
        #expect(
            try done("decrypt", "k", "--json", "--base64", input: bare)
                == "{\"name\":\"k\",\"plaintext\":\"\",\"hex\":\"\"}\n")
        #expect(
            try done("public", "k", "--json")
                .hasPrefix("{\"name\":\"k\",\"format\":\"pem\",\"key\":\"-----BEGIN PUBLIC KEY-----\\n"))
        #expect(
            try done("public", "k", "--json", "--format", "jwk")
                .hasPrefix("{\"name\":\"k\",\"format\":\"jwk\",\"key\":{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":"))
        #expect(try done("public", "k", "--json", "--format", "der").member("key")?.hasPrefix("MFkwEwYHKoZI") == true)
        #expect(try done("delete", "k", "--yes", "--json") == "{\"deleted\":\"k\"}\n")
    }

    // MARK: - The enclave

    @Test func statusReportsEnclave() throws {
        #expect(try daemon.run("latchkey", ["status"]).output.contains("\nenclave       software "))
        #expect(try daemon.run("latchkey", ["status", "--json"]).output.contains("\"enclave\":\"software\""))
        let user = try TestDaemon()
        #expect(try user.run("latchkey", ["status"]).output.contains("\nenclave       none\n"))
        #expect(try user.run("latchkey", ["status", "--json"]).output.contains("\"enclave\":null"))
    }

    @Test func enclaveKeyIsRefusedWithoutEnclave() throws {
        let user = try TestDaemon()
        let refused = try user.run("latchkey", ["key", "create", "k", "--enclave"])
        #expect(refused.exitCode == 1)
        #expect(refused.errors.contains("hint: Choose software with a line"), "\(refused.errors)")
        #expect(try user.run("latchkey", ["key", "list", "--json"]).output == "[]\n")
        #expect(try user.run("latchkey", ["key", "create", "k"]).exitCode == 0)
    }

    /// The command refuses the first case before creating a key; the daemon refuses the others, the second one after
    /// the public half was stored.
    @Test(arguments: [([], 77), (["--device-only"], 1), (["--enclave"], 1)])
    func refusedKeyPairLeavesNoHalfBehind(options: [String], exitCode: Int) throws {
        // These access controls require a passcode, and none is set.
        let refused = try daemon.run("latchkey", ["key", "create", "k", "--protect", "passcode"] + options)
        #expect(Int(refused.exitCode) == exitCode && refused.errors.contains("latchkey passcode set"), "\(refused)")
        #expect(try done("list", "--json") == "[]\n")
    }

    @Test func appUsesKeyCreatedByCommand() throws {
        for made in [MadeKey.p256, .enclave] {
            try create(made, "shared \(made)")
            let signed = try daemon.run("latchkey-test-client", ["sign", "shared \(made)"])
            #expect(signed.output == "signed\n", "\(signed.errors)")
        }
        for made in [MadeKey.p521, .rsa2048, .enclave] {
            try create(made, "to \(made)")
            let sealed = try done("encrypt", "to \(made)", "--base64", input: "for the app")
            let opened = try daemon.run("latchkey-test-client", ["decrypt", "to \(made)"], input: sealed)
            #expect(opened.output == "for the app\n", "\(opened.errors)")
        }
    }
}

extension String {
    /// The string value of a JSON member, which must not contain escapes.
    fileprivate func member(_ name: String) -> String? {
        guard let start = range(of: "\"\(name)\":\"") else { return nil }
        return String(self[start...].prefix { $0 != "\"" })
    }

    private func range(of words: String) -> Index? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(words) { return self.index(index, offsetBy: words.count) }
            index = self.index(after: index)
        }
        return nil
    }
}
