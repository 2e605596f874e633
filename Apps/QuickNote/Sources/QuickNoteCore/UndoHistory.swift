// SPDX-License-Identifier: Apache-2.0

/// The texts of a note before its changes, for undo and redo. Bounded, so that a long session does not fill the memory.
struct UndoHistory {
    private static let steps = 200
    private static let bytes = 16 << 20
    /// Changes within this time of each other are undone together.
    private static let pause = Duration.seconds(1)

    private var past: [String] = []
    private var future: [String] = []
    private var last: Duration?

    var canUndo: Bool { !past.isEmpty }
    var canRedo: Bool { !future.isEmpty }

    /// Notes the text that is about to change. Typing goes together into one step; what comes in one piece does not.
    mutating func record(_ text: String, at now: Duration, isTyping: Bool) {
        defer { last = isTyping ? now : nil }
        future = []
        if isTyping, let last, now - last < Self.pause, !past.isEmpty { return }
        past.append(text)
        var size = past.reduce(0) { $0 + $1.utf8.count }
        while past.count > 1, past.count > Self.steps || size > Self.bytes { size -= past.removeFirst().utf8.count }
    }

    /// The text before the last change.
    mutating func undo(_ current: String) -> String? {
        guard let text = past.popLast() else { return nil }
        future.append(current)
        last = nil
        return text
    }

    /// The text that the last undo took away.
    mutating func redo(_ current: String) -> String? {
        guard let text = future.popLast() else { return nil }
        past.append(current)
        last = nil
        return text
    }
}
