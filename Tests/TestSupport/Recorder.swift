// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
package import Testing

/// What the callbacks of a test were called with, on any thread, in order.
package final class Recorder<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    package init() {}

    package var all: [Value] { values.withLock { $0 } }

    package func add(_ value: Value) {
        values.withLock { $0.append(value) }
        arrivals.signal()
    }

    package func removeAll() { values.withLock { $0 = [] } }

    /// Waits for a value that fulfils the condition.
    @discardableResult
    package func first(
        sourceLocation: SourceLocation = #_sourceLocation, where isWanted: (Value) -> Bool
    ) throws -> Value {
        try wait(sourceLocation) { values in values.first(where: isWanted) }
    }

    /// Waits for a value that fulfils the condition, and removes it and those before it.
    @discardableResult
    package func next(
        sourceLocation: SourceLocation = #_sourceLocation, where isWanted: (Value) -> Bool = { _ in true }
    ) throws -> Value {
        try wait(sourceLocation) { values in
            guard let index = values.firstIndex(where: isWanted) else { return nil }
            defer { values.removeFirst(index + 1) }
            return values[index]
        }
    }

    private func wait(_ sourceLocation: SourceLocation, _ find: (inout [Value]) -> Value?) throws -> Value {
        while true {
            if let found = values.withLock({ find(&$0) }) { return found }
            // A test that waits without a limit keeps one of the few threads on which all tests run.
            try #require(arrivals.wait(timeout: .now() + 30) == .success, sourceLocation: sourceLocation)
        }
    }
}
