// SPDX-License-Identifier: Apache-2.0

/// Earlier texts of a note, for undo and redo. Limited in number and size.
struct UndoHistory {
    private static let steps = 200
    private static let bytes = 16 << 20
    /// Typed changes within this time of each other are undone together.
    private static let pause = Duration.seconds(1)

    private var past: [String] = []
    private var future: [String] = []
    private var last: Duration?

    var canUndo: Bool { !past.isEmpty }
    var canRedo: Bool { !future.isEmpty }

    /// Records the text before a change. Typed characters are combined into one step; a paste is a step of its own.
    mutating func record(_ text: String, at now: Duration, isTyping: Bool) {
        defer { last = isTyping ? now : nil }
        future = []
        if isTyping, let last, now - last < Self.pause, !past.isEmpty { return }
        past.append(text)
        var size = past.reduce(0) { $0 + $1.utf8.count }
        while past.count > 1, past.count > Self.steps || size > Self.bytes { size -= past.removeFirst().utf8.count }
    }

    /// Returns the text before the last change; nil when there is none.
    mutating func undo(_ current: String) -> String? {
        guard let text = past.popLast() else { return nil }
        future.append(current)
        last = nil
        return text
    }

    /// Returns the text that the last undo reverted; nil when there is none.
    mutating func redo(_ current: String) -> String? {
        guard let text = future.popLast() else { return nil }
        past.append(current)
        last = nil
        return text
    }
}
