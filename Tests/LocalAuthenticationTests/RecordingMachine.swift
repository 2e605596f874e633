// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyAuthority
import LatchkeyClient
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import Synchronization
import SystemDriver

@testable import LatchkeySimulator

/// A simulated machine that records the prompts and their contents.
final class RecordingMachine: Sendable {
    private let world: SimulatedWorld
    private let client: Client
    private let prompter: RecordingPrompter
    /// The prompts, as they are shown.
    let prompts: AsyncStream<Prompt>

    init(sensor: BiometryKind = .touchID, passcode: String = "1234") throws {
        let random = SystemRandomSource()
        let clock = VirtualClock()
        let world = SimulatedWorld(
            WorldState(sensor: sensor, enrolment: [1]), clock: clock, random: random, user: geteuid(),
            save: { _ in })
        self.world = world
        let identity = StoreIdentity(tier: .simulated, userID: geteuid(), passcodeCost: 10)
        let items = try SQLiteItemStore.inMemory()
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try identity.create(in: items, vault: vault, random: random)
        let keychain = try identity.open(items, vault: vault, clock: clock, random: random)
        let (prompts, continuation) = AsyncStream.makeStream(of: Prompt.self)
        self.prompts = prompts
        let prompter = RecordingPrompter(ScriptedPrompter(SimulatedPrompter(), world: world), continuation)
        self.prompter = prompter
        let work = ImmediateWorkQueue()
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: .simulated, userID: geteuid(), reader: world, prompter: prompter, clock: clock, random: random,
                work: work, stretching: work, counters: .success(keychain), permissions: keychain))
        let service = Service(
            Service.Parts(
                tier: .simulated, userID: geteuid(), storePath: ":memory:", processID: getpid(),
                keychain: .success(keychain), authority: authority, clock: clock, random: random, work: work,
                stretching: work))
        service.setFacePermission("app", true)
        client = Client(application: "app", faceUsage: "tests") {
            MemoryChannel { hello in
                service.session(
                    caller: Caller(groups: ["app"], label: "app", processID: getpid(), userID: geteuid()),
                    terminal: 0, mayNameItself: true, hello: hello)
            }
        }
        try client.call(Request.PasscodeChange.set(SecretBytes(passcode.utf8)))
    }

    func run<R>(_ body: () throws -> R) rethrows -> R { try ClientScope.$world.withValue(client, operation: body) }

    /// Queues an action of the user.
    func perform(_ action: SimulatedWorld.Action) { world.perform(action) }

    /// All prompts so far.
    var shown: [Prompt] { prompter.shown }

    /// The contents of the prompts, after each change.
    var contents: [PromptContent] { prompter.contents }

    /// Waits for the next prompt.
    func nextPrompt() async -> Prompt? {
        var iterator = prompts.makeAsyncIterator()
        return await iterator.next()
    }
}

private final class RecordingPrompter: Prompter {
    private let inner: ScriptedPrompter
    private let continuation: AsyncStream<Prompt>.Continuation
    private let state = Mutex<(shown: [Prompt], contents: [PromptContent])>(([], []))

    init(_ inner: ScriptedPrompter, _ continuation: AsyncStream<Prompt>.Continuation) {
        self.inner = inner
        self.continuation = continuation
    }

    var shown: [Prompt] { state.withLock { $0.shown } }
    var contents: [PromptContent] { state.withLock { $0.contents } }

    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        state.withLock { state in
            state.shown.append(prompt)
            state.contents.append(prompt.content)
        }
        inner.show(prompt, events: events)
        continuation.yield(prompt)
    }

    func update(_ id: UInt64, _ content: PromptContent) {
        state.withLock { $0.contents.append(content) }
        inner.update(id, content)
    }

    func dismiss(_ id: UInt64) { inner.dismiss(id) }
}
