// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The prompts of a driver from the moment they are asked for: one that is dismissed or changed before its process has
/// started is not shown, or shown as it is to be by then.
package final class PromptTable<Shown: Sendable>: Sendable {
    private enum Entry: Sendable {
        /// Its process is not there; what it is to say by now, if that has changed.
        case starting(PromptContent?)
        case shown(Shown)
    }

    private let entries = Mutex<[UInt64: Entry]>([:])

    /// A table without prompts.
    package init() {}

    /// A prompt is asked for.
    package func begin(_ id: UInt64) { entries.withLock { $0[id] = .starting(nil) } }

    /// Whether nobody has dismissed it.
    package func isWanted(_ id: UInt64) -> Bool { entries.withLock { $0[id] != nil } }

    /// Its process is there: has `show` say the first words, which nobody else's can overtake; false when it was dismissed.
    package func adopt(_ id: UInt64, _ shown: Shown, _ show: (PromptContent?) -> Void) -> Bool {
        entries.withLock { entries in
            guard case .starting(let content)? = entries[id] else { return false }
            show(content)
            entries[id] = .shown(shown)
            return true
        }
    }

    /// What shows the prompt; nil when nothing does, and then the words are kept for when it does.
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

    /// What shows the prompt; nil when nothing does, and then nothing will.
    package func dismiss(_ id: UInt64) -> Shown? {
        entries.withLock { entries in
            if case .shown(let shown)? = entries[id] { return shown }
            entries[id] = nil
            return nil
        }
    }

    /// It is over; whether it was wanted to the end.
    @discardableResult
    package func end(_ id: UInt64) -> Bool { entries.withLock { $0.removeValue(forKey: id) != nil } }
}
