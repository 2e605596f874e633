// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A counter that starts at zero.
final class Counter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
    var value: Int { count.withLock { $0 } }
}
