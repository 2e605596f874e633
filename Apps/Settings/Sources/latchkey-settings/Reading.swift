// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// Reads something that can change at any time, on another thread.
///
/// One reading runs at a time. If another is begun meanwhile, something may have changed that the first one no longer sees:
/// its result is dropped, and the newest reading begins when it has ended.
@MainActor final class Reading<Value: Sendable> {
    /// Reads the value; called on another thread.
    typealias Body = @Sendable () throws(SettingsFailure) -> Value
    /// Gets the result, on the main loop.
    typealias Done = @MainActor @Sendable (Result<Value, SettingsFailure>) -> Void

    private var isUnderWay = false
    /// The newest reading that was begun while another was under way.
    private var next: (body: Body, done: Done)?

    func begin(_ body: @escaping Body, done: @escaping Done) {
        guard !isUnderWay else {
            next = (body, done)
            return
        }
        isUnderWay = true
        Work.run(body) { [weak self] result in
            guard let self else { return }
            isUnderWay = false
            guard let next else { return done(result) }
            self.next = nil
            begin(next.body, done: next.done)
        }
    }
}
