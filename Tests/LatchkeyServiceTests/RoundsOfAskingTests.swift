// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import Synchronization
import Testing

@testable import LatchkeyService

/// The number of prompts of one request is limited.
@Suite struct RoundsOfAskingTests {
    private let session: Session
    private let world: SimulatedWorld

    init() throws {
        let simulated = try SimulatedService()
        world = simulated.world
        session = simulated.session()
        session.handle(1, .passcode(.set(SecretBytes("1234".utf8)))) { _ in }
    }

    /// Shows the prompt of that round.
    ///
    /// - Returns: whether the request continued, and the status with which it was refused.
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

    @Test func requestFailsAfterTwentyPrompts_AC13() {
        world.perform(.touch(matching: true))
        let last = ask(round: 20)
        #expect(last.goesOn && last.refusal == nil)
        world.perform(.touch(matching: true))
        let beyond = ask(round: 21)
        #expect(!beyond.goesOn && beyond.refusal == .itemAuthenticationFailed)
    }
}
