// SPDX-License-Identifier: Apache-2.0

import KeyFileDriver
import LatchkeyHost
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SQLiteDriver
import SimulatedDriver
import Synchronization
import SystemDriver
import Testing

@testable import LatchkeyService

/// One request asks a person a bounded number of times.
@Suite struct RoundsOfAskingTests {
    private let session: Session
    private let world: SimulatedWorld

    init() throws {
        let (random, clock) = (SystemRandomSource(), VirtualClock())
        world = SimulatedWorld(
            WorldState(sensor: .touchID, enrolment: [1, 2, 3]), clock: clock, random: random
        ) { _ in }
        let identity = StoreIdentity(tier: .simulated, userID: 1, passcodeCost: 4)
        let store = try SQLiteItemStore.inMemory()
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try identity.create(in: store, rootKey: vault.rootKey(), random: random)
        let service = Service(
            Service.Parts(
                tier: .simulated, storePath: "", processID: 1,
                keychain: .success(try identity.open(store, vault: vault, clock: clock, random: random)),
                reader: world, prompter: ScriptedPrompter(SimulatedPrompter(), world: world), clock: clock,
                random: random, work: ImmediateWorkQueue(), controls: world))
        let caller = Caller(groups: ["app"], label: "app", processID: 1, userID: 1)
        session = service.session(caller: caller, terminal: 0, mayNameItself: true)
        session.handle(1, .passcode(.set(SecretBytes("1234".utf8)))) { _ in }
    }

    /// Asks in that round; whether what follows ran, and what it was refused with.
    private func ask(round: Int) -> (goesOn: Bool, refusal: Status?) {
        let goesOn = Mutex(false)
        do throws(Failure) {
            try session.askThen(2, AuthenticationPlan([[.biometry]]), Authentication(), round) { _ in
                goesOn.withLock { $0 = true }
            } answer: { _ in
            }
            return (goesOn.withLock { $0 }, nil)
        } catch {
            return (goesOn.withLock { $0 }, error.status)
        }
    }

    @Test func aRequestThatKeepsAskingIsAuthFailedAfterTwentyRounds_AC13() {
        world.perform(.touch(matching: true))
        let last = ask(round: 20)
        #expect(last.goesOn && last.refusal == nil)
        world.perform(.touch(matching: true))
        let beyond = ask(round: 21)
        #expect(!beyond.goesOn && beyond.refusal == .itemAuthenticationFailed)
    }
}
