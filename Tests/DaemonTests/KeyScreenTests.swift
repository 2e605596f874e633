// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// Tests of `latchkey key` on a terminal: prompts, and what is written there.
@Suite struct KeyScreenTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try .withPerson()
        try daemon.write("message", to: "message")
    }

    private var message: String { daemon.folder + "/message" }

    private func start(_ screen: Screen, _ arguments: String...) throws -> pid_t {
        try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["key"] + arguments, environment: daemon.environment)
    }

    private func exitCode(_ process: pid_t) -> CInt { (Processes.wait(process) >> 8) & 0xff }

    private func done(_ arguments: String..., input: String = "") throws -> String {
        let finished = try daemon.run("latchkey", ["key"] + arguments, input: input)
        #expect(finished.exitCode == 0, "\(arguments): \(finished.errors)")
        return finished.output
    }

    @Test(arguments: [[], ["--enclave"]]) func eachSignatureRequiresAuthentication(options: [String]) throws {
        let made = try daemon.run("latchkey", ["key", "create", "k", "--protect", "presence"] + options)
        #expect(made.exitCode == 0, "\(made.errors)")
        #expect(try done("list", "--json").contains("\"protection\":\"presence\""))
        // Reading the public key does not prompt.
        #expect(try done("public", "k").hasPrefix("-----BEGIN PUBLIC KEY-----"))
        let sealed = try done("encrypt", "k", "--base64", input: "for your eyes")
        try daemon.write(sealed, to: "sealed")

        let refused = try daemon.run("latchkey", ["key", "sign", "k", "--hex", message])
        #expect(refused.exitCode == 77 && refused.output.isEmpty)
        #expect(refused.errors.contains("No prompt can be shown here"), "\(refused.errors)")

        let signature = daemon.folder + "/sig"
        for round in 1...2 {
            let screen = try Screen()
            let caller = try start(screen, "sign", "k", "--replace", "--output", signature, message)
            #expect(screen.hears("to \"sign with k\""), "round \(round)")
            #expect(screen.hears("Touch the sensor"))
            try screen.terminal.type("m")
            _ = screen.everything()
            #expect(exitCode(caller) == 0)
            #expect(try done("verify", "k", "--signature", signature, message) == "The signature is valid.\n")
        }

        let screen = try Screen()
        let caller = try start(screen, "decrypt", "k", "--base64", daemon.folder + "/sealed")
        #expect(screen.hears("to \"decrypt with k\""))
        #expect(screen.hears("Touch the sensor"))
        try screen.terminal.type("m")
        #expect(screen.hears("for your eyes"))
        #expect(exitCode(caller) == 0)
        #expect(try done("delete", "k").isEmpty, "deleting does not prompt")
    }

    @Test(arguments: [[], ["--enclave"]]) func cancellationYieldsNoSignature(options: [String]) throws {
        #expect(
            try daemon.run("latchkey", ["key", "create", "k", "--protect", "biometry"] + options).exitCode == 0)
        let signature = daemon.folder + "/sig"
        let screen = try Screen()
        let caller = try start(screen, "sign", "k", "--output", signature, message)
        #expect(screen.hears("Touch the sensor"))
        try screen.terminal.type("\u{1b}")
        #expect(screen.everything().contains("Authentication was cancelled"))
        #expect(exitCode(caller) == 77)
        #expect(!Files.exists(signature) && !Files.exists(signature + ".partial"))
    }

    @Test func binaryOutputIsNotWrittenToTerminal() throws {
        _ = try done("create", "k", "--protect", "presence")
        for arguments in [
            ["sign", "k", message], ["encrypt", "k", message], ["public", "k", "--format", "der"],
            ["public", "k", "--format", "x963"],
        ] {
            let screen = try Screen()
            let caller = try screen.terminal.spawn(
                TestDaemon.programs + "/latchkey", ["key"] + arguments, environment: daemon.environment)
            let shown = screen.everything()
            #expect(shown.contains("the result is binary and would go to the terminal"), "\(arguments): \(shown)")
            #expect(shown.contains("--base64") && !shown.contains("Touch"), "refused without a prompt")
            #expect(exitCode(caller) == 64)
        }
        let screen = try Screen()
        let caller = try start(screen, "encrypt", "k", "--hex", message)
        #expect(screen.everything().contains("04"))
        #expect(exitCode(caller) == 0)
    }

    @Test func decryptedControlSequencesAreNotWrittenToTerminal() throws {
        _ = try done("create", "k")
        for (text, isShown) in [("two\nlines", true), ("\u{1b}]0;owned\u{7}", false), ("a\u{202e}b", false)] {
            try daemon.write(try done("encrypt", "k", "--base64", input: text), to: "sealed")
            let screen = try Screen()
            let caller = try start(screen, "decrypt", "k", "--base64", daemon.folder + "/sealed")
            let shown = screen.everything()
            #expect(exitCode(caller) == (isShown ? 0 : 1))
            #expect(shown.contains("owned") == false && shown.contains("\u{202e}") == false)
            #expect(shown.contains(isShown ? "two\r\nlines\r\n" : "would go to the terminal"), "\(shown)")
            // A pipe receives the text unchanged.
            #expect(try done("decrypt", "k", "--base64", daemon.folder + "/sealed") == text)
        }
    }

    @Test func primeSearchIsShownOnTerminal() throws {
        let screen = try Screen()
        let caller = try start(screen, "create", "k", "--type", "rsa3072")
        let shown = screen.everything()
        #expect(shown.hasPrefix("Searching for two primes") && shown.hasSuffix("\r\u{1b}[K"), "\(shown)")
        #expect(exitCode(caller) == 0)
        let piped = try daemon.run("latchkey", ["key", "create", "other", "--type", "rsa2048"])
        #expect(piped.exitCode == 0 && piped.errors.isEmpty && piped.output.isEmpty)
    }
}
