// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The prompts of a driver, including those whose process is starting: these can already be dismissed or given new
/// content, which is shown once the process runs.
package final class PromptTable<Shown: Sendable>: Sendable {
    private enum Entry: Sendable {
        /// The process is starting; holds newer content, if any.
        case starting(PromptContent?)
        case shown(Shown)
    }

    private let entries = Mutex<[UInt64: Entry]>([:])

    package init() {}

    package func begin(_ id: UInt64) { entries.withLock { $0[id] = .starting(nil) } }

    /// Whether the prompt has not been dismissed.
    package func isWanted(_ id: UInt64) -> Bool { entries.withLock { $0[id] != nil } }

    /// Records that the process runs and calls `show` with the newer content, if any, before any other message can be
    /// sent; false when the prompt was dismissed.
    package func adopt(_ id: UInt64, _ shown: Shown, _ show: (PromptContent?) -> Void) -> Bool {
        entries.withLock { entries in
            guard case .starting(let content)? = entries[id] else { return false }
            show(content)
            entries[id] = .shown(shown)
            return true
        }
    }

    /// Returns the process that shows the prompt, to which the caller sends the content; nil when there is none.
    /// While the process is starting, stores the content for it.
    package func update(_ id: UInt64, _ content: PromptContent) -> Shown? {
        entries.withLock { entries in
            switch entries[id] {
            case .shown(let shown): return shown
            case .starting: entries[id] = .starting(content)
            case nil: break
            }
            return nil
        }
    }

    /// Returns the process that shows the prompt, for the caller to dismiss; nil when no process shows it, and none
    /// will later.
    package func dismiss(_ id: UInt64) -> Shown? {
        entries.withLock { entries in
            if case .shown(let shown)? = entries[id] { return shown }
            entries[id] = nil
            return nil
        }
    }

    /// Removes a prompt; true when it had not been removed before.
    @discardableResult
    package func end(_ id: UInt64) -> Bool { entries.withLock { $0.removeValue(forKey: id) != nil } }
}
