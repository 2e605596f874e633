// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Synchronization

/// The replies sent to a connection.
final class Replies: Sendable {
    private let all = Mutex<[(UInt64, Reply)]>([])

    func add(_ payload: SecretBytes) {
        guard case .reply(let id, let reply)? = try? Message(decoding: payload) else { return }
        all.withLock { $0.append((id, reply)) }
    }

    func of(_ id: UInt64) -> [Reply] { all.withLock { $0.filter { $0.0 == id }.map(\.1) } }
}
