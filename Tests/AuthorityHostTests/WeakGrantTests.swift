// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyAuthority

/// The authority approves no use of a key with a token of a weak sensor, whatever `latchkeyd` asks for.
@Suite struct WeakGrantTests {
    private static let set = EnrolmentSet([4])
    private static let challenge = [UInt8](repeating: 2, count: 32)

    /// Whether a token of this strength permits the use of a key that needs a finger or a face.
    private func permits(_ strength: AuthToken.Strength) -> Bool {
        var grants = KeyGrants()
        let token = AuthToken(
            connection: [UInt8](repeating: 1, count: 16), challenge: Self.challenge, userID: 1000, passcodeID: [],
            purpose: .app, binding: [UInt8](repeating: 3, count: 32), methods: [.biometry], strength: strength,
            isVirtual: false, enrolment: Self.set, bootID: [1], issued: 100, expires: 200)
        grants.add(token, Caller(groups: ["app"], label: "app", processID: 7, userID: 1000), .oneKey)
        return grants.take(
            [Self.challenge], for: AuthenticationPlan([[.biometry]]), key: [1, 2, 3], set: Self.set)
            != nil
    }

    @Test func onlyAStrongTokenPermitsTheUseOfAKey() {
        #expect(permits(.strong) && !permits(.weak) && !permits(.none))
    }
}
