// SPDX-License-Identifier: Apache-2.0

/// The items that apps get without a question although a passcode is set.
///
/// An app that stores something while no passcode is set cannot have it protected. The item stays as it is when a passcode is set
/// later. What an app stores afterwards without protection is its choice, and is not listed here.
public struct OpenItems: Equatable, Sendable {
    /// The items: those that were stored before the passcode was set, or all that are open if that is not known.
    public let items: [StoredItem]
    /// Whether all of them were stored before the passcode was set.
    public let areOlderThanPasscode: Bool

    /// Finds them.
    ///
    /// - Parameter passcodeTime: when the passcode was set, in microseconds since 1970-01-01 UTC; nil if it is not known.
    init(among items: [StoredItem], passcodeTime: Int64?) {
        let open = items.filter(\.isOpen)
        guard let passcodeTime, open.allSatisfy({ $0.storedTime != nil }) else {
            (self.items, areOlderThanPasscode) = (open, false)
            return
        }
        self.items = open.filter { ($0.storedTime ?? 0) < passcodeTime }
        areOlderThanPasscode = true
    }
}

extension KeychainControl {
    /// Maximum pages of the audit log that are read for the time of the passcode: 16384 entries.
    private static let passcodePages = 16

    /// The items that apps get without a question although a passcode is set; shows no prompt.
    ///
    /// - Parameter items: the items of all apps.
    /// - Returns: those that were stored before the passcode was set; all that are open where its time is not among the newest
    ///   entries of the audit log, or cannot be read.
    public func openItems(among items: [StoredItem]) -> OpenItems {
        // Most keychains have none, and need no log.
        guard items.contains(where: \.isOpen) else { return OpenItems(among: [], passcodeTime: nil) }
        // Without the time, because the log cannot be read, every open item is listed: more than is older, never less.
        return OpenItems(among: items, passcodeTime: (try? passcodeTime()) ?? nil)
    }

    private func passcodeTime() throws(SettingsFailure) -> Int64? {
        var before: Int64?
        for _ in 0..<Self.passcodePages {
            let entries = try activity(before: before, limit: .max)
            if let found = entries.first(where: { $0.event == .passcodeSet }) { return found.time }
            guard let last = entries.last, last.id > 1 else { return nil }
            before = last.id
        }
        return nil
    }
}
