// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import ChildProcessDrivers

/// The driver with programs in place of `latchkey-pam`, each a script that sends prepared frames.
@Suite struct PAMPasswordsTests {
    private let scripts: PAMScripts
    private var file: (String) -> String { scripts.file }

    init() throws { scripts = try PAMScripts() }

    /// A driver whose program runs this script, with its socket as descriptor 3.
    private func driver(
        _ script: String, seconds: Int64 = 20, service: String = "auth required a.so\naccount required b.so\n"
    ) throws -> PAMPasswords {
        var places = PAMPasswords.Places(program: try scripts.program(script))
        places.service = try scripts.service(service)
        try scripts.write("shadow", "ada:$y$j9T$x:1::::::\nbob:!:1\ncarl::1\ndora:*:1\n", mode: 0o600)
        places.shadow = file("shadow")
        places.owner = getuid()
        return PAMPasswords(places, seconds: seconds)
    }

    private func verify(
        _ driver: PAMPasswords, _ password: String = "secret"
    ) async throws -> (AccountVerdict, messages: [String]) {
        let account = try #require(AccountName("ada"))
        let messages = Recorder<String>()
        let verdict = await withCheckedContinuation { continuation in
            driver.verify(SecretBytes(password.utf8), of: account) { text in
                messages.add(text)
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        return (verdict, messages.all)
    }

    private let question = PAMMessage.said(.hiddenQuestion, "Password: ")
    private let answer = PAMMessage.answer(SecretBytes("secret".utf8))

    @Test func theProcessGetsTheAccountAndTheTypedString() async throws {
        let begin = PAMMessage.begin(try #require(AccountName("ada")), .password)
        let script =
            scripts.read(begin, into: file("begin")) + scripts.send(.said(.information, "Hello"), question)
            + scripts.read(answer, into: file("answer")) + scripts.send(.ended(.account, code: 0))
        let (verdict, messages) = try await verify(driver(script))
        #expect(verdict == .right(mustChange: false) && messages == ["Hello"])
        let got = try Data(contentsOf: URL(fileURLWithPath: file("answer")))
        #expect(Array(got) == Frame.bytes(answer.encoded()).copyBytes())
        let first = try Data(contentsOf: URL(fileURLWithPath: file("begin")))
        #expect(Array(first) == Frame.bytes(begin.encoded()).copyBytes())
    }

    @Test func theProcessHasNeitherEnvironmentNorDescriptors() async throws {
        let script =
            "env | grep -v '^\\(PWD\\|_\\|SHLVL\\)=' >\(file("environment"))\nls /proc/$$/fd >\(file("descriptors"))\n"
            + scripts.send(question, .ended(.account, code: 0))
        _ = try await verify(driver(script))
        #expect(try String(contentsOfFile: file("environment"), encoding: .utf8) == "")
        // 10 or higher is the script itself, as the shell reads it.
        let open = try String(contentsOfFile: file("descriptors"), encoding: .utf8).split(separator: "\n")
        #expect(Set(open.filter { $0.count == 1 }) == ["0", "1", "2", "3"])
    }

    @Test(.promise("account.process")) func aProcessThatHangsIsKilledAtTheDeadline_abuse26() async throws {
        let script = "setsid sleep 1000 &\necho $! >\(file("child"))\nwait\n"
        let start = ContinuousClock.now
        let (verdict, _) = try await verify(driver(script, seconds: 5))
        #expect(verdict.name == "failed" && verdict.failure?.message.contains("did not answer in time") == true)
        #expect(ContinuousClock.now - start >= .seconds(5))
        let text = try String(contentsOfFile: file("child"), encoding: .utf8)
        let child = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(Processes.hasEnded(child, within: 10), "the programs that modules start end too")
    }

    @Test(arguments: ["exit 0\n", "kill -9 $$\n", ""]) func aProcessThatEndsHasVerifiedNothing(
        script: String
    ) async throws {
        let (verdict, _) = try await verify(driver(script))
        #expect(verdict.name == "failed")
    }

    @Test func aProcessKilledAfterTheAnswerHasVerifiedNothing() async throws {
        let begin = PAMMessage.begin(try #require(AccountName("ada")), .password)
        let (verdict, _) = try await verify(
            driver(scripts.read(begin) + scripts.send(question) + scripts.read(answer) + "kill -9 $$\n"))
        #expect(verdict.name == "failed")
    }

    @Test(
        .promise("account.process"),
        arguments: [
            "printf 'garbage, and more garbage' >&3; sleep 100\n",
            #"printf '\001\000\020\000\000' >&3; sleep 100"# + "\n",
        ])
    func garbageEndsTheVerification(script: String) async throws {
        let (verdict, _) = try await verify(driver(script))
        #expect(verdict.name == "failed" && verdict.failure?.message.contains("cannot be decoded") == true)
    }

    @Test func aModuleThatAsksTwiceGetsOneAnswer() async throws {
        let begin = PAMMessage.begin(try #require(AccountName("ada")), .password)
        let script =
            scripts.read(begin) + scripts.send(question) + scripts.read(answer) + scripts.send(question)
            + "head -c 1 <&3 >\(file("second"))\n"
            + scripts.send(.ended(.account, code: 0))
        let (verdict, _) = try await verify(driver(script))
        #expect(verdict.name == "failed" && verdict.failure?.message.contains("second secret") == true)
        #expect((try? Data(contentsOf: URL(fileURLWithPath: file("second"))).count) ?? 0 == 0)
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "x", count: 512)])
    func aPasswordThatPAMWouldNotReadWholeIsWrongWithoutPAM(password: String) async throws {
        let driver = try driver("touch \(file("started"))\n")
        #expect(try await verify(driver, password).0 == .wrong)
        #expect(!FileManager.default.fileExists(atPath: file("started")))
    }

    @Test func aMissingProgramIsNoTry() async throws {
        let driver = try driver("")
        unlink(file("pam"))
        #expect(try await verify(driver).0.name == "notAvailable")
    }

    @Test(
        .promise("account.pam"),
        arguments: [
            "auth include common-auth\naccount required b.so\n", "@include common-auth\naccount required b.so\n",
            "auth substack common-auth\naccount required b.so\n", "account required b.so\n", "auth required a.so\n",
            "auth required a.so nullok\naccount required b.so\n", "",
            // libpam divides lines at line feeds only, so the file has no rule of the type auth.
            "# \u{2028}auth required a.so\naccount required b.so\n",
            "#\u{85}auth required a.so\naccount required b.so\n",
            "auth required a.so \u{301}x nullok\u{301}\naccount required b.so\n",
        ])
    func aServiceFileThatDoesNotDecideAloneVerifiesNothing(text: String) async throws {
        let driver = try driver("touch \(file("started"))\n", service: text)
        #expect(try await verify(driver).0.name == "notAvailable")
        #expect(!FileManager.default.fileExists(atPath: file("started")))
    }

    @Test func aServiceFileThatOthersCanChangeVerifiesNothing() async throws {
        let driver = try driver("")
        #expect(chmod(file("service"), 0o622) == 0)
        #expect(try await verify(driver).0.name == "notAvailable")
    }

    @Test func theShippedServiceFileIsAccepted() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("packaging/pam.d/latchkey"), encoding: .utf8)
        #expect(PAMServiceFile.flaw(of: text) == nil)
    }

    @Test(arguments: [("ada", true), ("bob", false), ("carl", false), ("dora", false), ("eve", false), ("ad", false)])
    func anAccountHasAPasswordIfItsLineHasAHash(name: String, expected: Bool) throws {
        #expect(try driver("").hasPassword(try #require(AccountName(name))) == expected)
    }

    @Test func withoutTheFileOfHashesNothingIsKnownAboutPasswords() throws {
        let driver = try driver("")
        unlink(file("shadow"))
        let failure = #expect(throws: Failure.self) { try driver.hasPassword(try #require(AccountName("ada"))) }
        // Another kind of passcode needs the file too: the account password is asked for before it is set.
        #expect(failure?.hint.contains("pwconv") == true && failure?.hint.contains("passcode = own") == false)
    }
}

extension AccountVerdict {
    fileprivate var failure: Failure? {
        switch self {
        case .right, .wrong: nil
        case .refused(let failure), .notAvailable(let failure), .failed(let failure): failure
        }
    }
}
