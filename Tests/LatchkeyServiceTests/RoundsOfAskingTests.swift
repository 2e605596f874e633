// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import Synchronization
import Testing

@testable import LatchkeyService

/// The number of prompts of one request is limited.
@Suite struct RoundsOfAskingTests {
    private final class Prompts: Sendable {
        let all = Mutex<(granted: Int, refusals: [Status])>((0, []))
    }
    private let session: Session
    private let world: SimulatedWorld

    init() throws {
        let simulated = try SimulatedService()
        world = simulated.world
        session = simulated.session()
        session.handle(1, .passcode(.set(SecretBytes("1234".utf8)))) { _ in }
    }

    /// Shows that number of prompts in one request, each answered by the finger.
    ///
    /// - Returns: how many continued the request, and the statuses with which the others were refused.
    private func prompts(_ count: Int) -> (granted: Int, refusals: [Status]) {
        let result = Prompts()
        Task(executorPreference: RequestExecutor.shared) { [session, world] in
            var proof = session.requestProof(nil)
            for _ in 0..<count {
                world.perform(.touch(matching: true))
                do throws(Failure) {
                    try await session.prove(
                        AuthenticationPlan([[.biometry]]), Call(id: 2) { _ in }, Authentication(), &proof)
                    result.all.withLock { $0.granted += 1 }
                } catch {
                    result.all.withLock { $0.refusals.append(error.status) }
                }
            }
        }
        return result.all.withLock { $0 }
    }

    @Test func requestFailsAfterTwentyPrompts_AC13() {
        let last = prompts(20)
        #expect(last.granted == 20 && last.refusals.isEmpty)
        let beyond = prompts(21)
        #expect(beyond.granted == 20 && beyond.refusals == [.itemAuthenticationFailed])
    }
}
