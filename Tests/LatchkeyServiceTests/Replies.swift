// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport

/// The replies sent to a connection.
final class Replies: Sendable {
    private let received = Recorder<(UInt64, Reply)>()

    func add(_ payload: SecretBytes) {
        guard case .reply(let id, let reply)? = try? Message(decoding: payload) else { return }
        received.add((id, reply))
    }

    func of(_ id: UInt64) -> [Reply] { received.all.filter { $0.0 == id }.map(\.1) }
}
