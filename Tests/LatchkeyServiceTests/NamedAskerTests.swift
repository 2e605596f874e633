// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SoftwareEnclaveDriver
import Testing

@testable import LatchkeyService

/// Uses of a key for another program, as an agent for ssh makes them.
@Suite struct NamedAskerTests {
    /// Process 7 has a terminal, process 8 has none, and process 9 may not be named.
    private struct Callers: SecretCallers {
        var work: (any WorkQueue)? { nil }
        var importer: String { "" }

        func program(_ process: ProcessName, namedBy provider: Caller) throws(Failure) -> AskingProgram {
            throw Failure(.notPermitted)
        }

        func asker(_ process: ProcessName, namedBy agent: Caller) throws(Failure) -> Caller? {
            guard process.processID != 9 else { throw Failure(.notPermitted) }
            var caller = Caller(groups: [], label: "ssh", processID: process.processID, userID: process.userID)
            (caller.processName, caller.terminal) = (process, 77)
            return process.processID == 7 ? caller : nil
        }
    }

    private let machine: SimulatedService
    private let prompts: CollectingPrompter
    private let key: EnclaveKeyName

    init() throws {
        (machine, prompts) = try SimulatedService.withPrompts { parts in
            parts.keyModule = SoftwareEnclave(clock: parts.clock, random: parts.random)
            parts.secretCallers = Callers()
        }
        let session = machine.handler()
        #expect(InterruptedService.answers(session, .setPasscode("1234"))() == [.done])
        let creation = Request.CreateEnclaveKey(
            attributes: [.applicationTag: .data([1])],
            accessControl: AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: [.biometryAny, .privateKeyUsage]),
            isPermanent: true, authentication: Authentication())
        let made = InterruptedService.answers(session, .createEnclaveKey(creation))().last
        if case .failure(let failure)? = made { throw failure }
        guard case .enclaveKey(let key)? = made else { throw Failure(.internalFailure, "No key was made.") }
        self.key = key.name
    }

    private func use(for process: ProcessName?) -> Reply? {
        let request = Request.UseEnclaveKey(
            name: key, operation: .sign(digest: [UInt8](repeating: 1, count: 32)), authentication: Authentication(),
            for: process)
        machine.world.perform(.touch(matching: true))
        return InterruptedService.answers(machine.handler(), .useEnclaveKey(request))().last
    }

    private func name(_ process: Int32, user: UInt32 = 1) -> ProcessName {
        ProcessName(processID: process, startTime: 1, userID: user)
    }

    @Test func thePromptIsOnTheTerminalOfTheProgramThatAskedTheAgent() throws {
        guard case .enclaveResult? = use(for: name(7)) else {
            Issue.record("nothing was signed")
            return
        }
        let prompt = try #require(prompts.shown.last)
        #expect((prompt.caller, prompt.processID, prompt.terminal) == ("ssh", 7, 77))
    }

    @Test(arguments: [8, nil] as [Int32?]) func withoutATerminalThePromptIsThatOfTheAgent(_ process: Int32?) throws {
        guard case .enclaveResult? = use(for: process.map { name($0) }) else {
            Issue.record("nothing was signed")
            return
        }
        let prompt = try #require(prompts.shown.last)
        #expect((prompt.caller, prompt.processID, prompt.terminal) == ("app", 1, 0))
    }

    @Test func aProcessThatMayNotBeNamedOrIsOfAnotherUserHasNoPrompt() {
        for process in [name(9), name(7, user: 2)] {
            guard case .failure(let failure)? = use(for: process) else {
                Issue.record("not refused")
                continue
            }
            #expect(failure.status == .notPermitted)
        }
        #expect(prompts.shown.isEmpty)
    }
}
