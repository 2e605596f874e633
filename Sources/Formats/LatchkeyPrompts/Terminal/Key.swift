// SPDX-License-Identifier: Apache-2.0

/// One key press.
package enum Key: Equatable, Sendable {
    /// A byte of text, or a control key other than Escape.
    case byte(UInt8)
    case escape
}

/// Distinguishes keys from control sequences, however their bytes are split on arrival. Arrow keys, function keys and
/// replies of the terminal arrive as control sequences.
///
/// Only the state of a sequence is stored, never a byte: bytes may belong to a passcode.
package struct KeyDecoder: Sendable {
    private enum State: Sendable {
        case text
        case escape
        case sequence
        case singleShift
    }
    private var state = State.text

    package init() {}

    /// Whether a sequence has begun. If no byte follows in time, call `timeOut`: it was the Escape key.
    package var isWaiting: Bool { if case .text = state { false } else { true } }

    /// Decodes a byte; nil while the key is incomplete, or when it has no meaning here.
    package mutating func take(_ byte: UInt8) -> Key? {
        switch state {
        case .text:
            guard byte == 0x1b else { return .byte(byte) }
            state = .escape
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence
            case UInt8(ascii: "O"): state = .singleShift
            // Escape was pressed twice: the first was a separate key.
            case 0x1b: return .escape
            // A key pressed together with Alt, which is ignored.
            default: state = .text
            }
        case .singleShift: state = .text
        // Parameters, then one final byte (ECMA-48, section 5.4).
        case .sequence:
            if byte == 0x1b { state = .escape } else if (0x40...0x7e).contains(byte) { state = .text }
        }
        return nil
    }

    /// Ends an incomplete sequence after a timeout; returns `escape` if it consists of that byte alone.
    package mutating func timeOut() -> Key? {
        defer { state = .text }
        if case .escape = state { return .escape }
        return nil
    }
}
