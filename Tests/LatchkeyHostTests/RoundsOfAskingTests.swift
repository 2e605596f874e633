// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import Synchronization
import Testing

@testable import LatchkeyService

/// One request asks a person a bounded number of times.
@Suite struct RoundsOfAskingTests {
    private let session: Session
    private let world: SimulatedWorld

    init() throws {
        let simulated = try SimulatedService()
        world = simulated.world
        session = simulated.session()
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
