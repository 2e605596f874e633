// SPDX-License-Identifier: Apache-2.0

/// One thing a person typed.
package enum Key: Equatable, Sendable {
    /// A byte of text, or a control key other than Escape.
    case byte(UInt8)
    /// The Escape key by itself.
    case escape
}

/// Tells keys from the control sequences that arrow keys, function keys and the terminal's answers arrive as, however
/// they are cut into pieces on their way.
///
/// Bytes are taken one by one and none is kept but those of a sequence: they may belong to a passcode.
package struct KeyDecoder: Sendable {
    private enum State: Sendable {
        case text
        case escape
        case sequence
        case singleShift
    }
    private var state = State.text

    /// Begins between two keys.
    package init() {}

    /// Whether a sequence has begun. If nothing follows soon, it was the Escape key: see `timeOut`.
    package var isWaiting: Bool { if case .text = state { false } else { true } }

    /// Takes a byte; nil when there is no whole key so far, or one that means nothing here.
    package mutating func take(_ byte: UInt8) -> Key? {
        switch state {
        case .text:
            guard byte == 0x1b else { return .byte(byte) }
            state = .escape
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence
            case UInt8(ascii: "O"): state = .singleShift
            // Escape pressed twice: the first was a key of its own.
            case 0x1b: return .escape
            // A key with Alt.
            default: state = .text
            }
        case .singleShift: state = .text
        // Parameters, then one final byte (ECMA-48, section 5.4).
        case .sequence:
            if byte == 0x1b { state = .escape } else if (0x40...0x7e).contains(byte) { state = .text }
        }
        return nil
    }

    /// Nothing came for a while.
    package mutating func timeOut() -> Key? {
        defer { state = .text }
        if case .escape = state { return .escape }
        return nil
    }
}
