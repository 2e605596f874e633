// SPDX-License-Identifier: Apache-2.0

/// Text from outside, compared and split by its bytes.
///
/// `==` and `contains` of the standard library also accept a text that is canonically equivalent, which names something
/// else. `hasPrefix` and `split` work on characters: a combining mark after a separator, or a carriage return before a
/// line feed, is a part of that character and hides it.
extension StringProtocol {
    /// Whether the bytes are those of `other`.
    package func hasBytes(of other: some StringProtocol) -> Bool {
        // Iterators of texts are several times as slow as their memory, which every native text has.
        let areEqual = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { others in
                mine.count == others.count && mine.indices.allSatisfy { mine[$0] == others[$0] }
            }
        }
        return (areEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the first bytes are those of `start`.
    package func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

    /// Whether the last bytes are those of `end`.
    package func ends(with end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }

    /// The parts between all bytes that are this ASCII character.
    package func parts(
        at separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [SubSequence] where SubSequence == Substring {
        unicodeScalars.split(
            maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty, whereSeparator: { $0 == separator }
        ).map { self[$0.startIndex..<$0.endIndex] }
    }
}

extension String {
    /// The name by which a person knows an item: "login (bank.example)", or the one of both that is not empty.
    ///
    /// - Parameter place: its service or server.
    package init(itemNamed name: String, at place: String) {
        self = name.isEmpty ? place : place.isEmpty ? name : "\(name) (\(place))"
    }
}

extension Sequence<String> {
    /// Whether one of the texts has the bytes of `text`.
    package func containsBytes(of text: String) -> Bool { contains { $0.hasBytes(of: text) } }
}

extension String {
    /// Bytes in a message: text as it is, and if they are not UTF-8, printable ASCII with the other bytes as `\xE9`.
    package init(showing bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
            return
        }
        let digits = Array("0123456789ABCDEF".utf8)
        let shown = bytes.flatMap { byte -> [UInt8] in
            if (0x20...0x7e).contains(byte), byte != UInt8(ascii: "\\") { return [byte] }
            return [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        self = String(decoding: shown, as: UTF8.self)
    }
}

extension Unicode.Scalar {
    /// Whether the character, in a name that an app chose, could change more than its own place on a screen: controls
    /// (C0, DEL and C1) move the cursor or start a sequence, U+2028 and U+2029 start a line, marks and overrides of the
    /// bidirectional algorithm turn the text around them, and characters without a width make two names look alike.
    ///
    /// The one rule for every output of names: text for people has U+FFFD instead, JSON an escape sequence.
    package var controlsText: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        // Fillers and other characters that are drawn as nothing. A variation selector only chooses the form of the
        // character before it, as in many emoji.
        default: properties.isDefaultIgnorableCodePoint && !(0xfe00...0xfe0f).contains(value)
        }
    }
}

extension String {
    /// At most this number of bytes of the text. Not characters, since one character may consist of any number of bytes.
    package func clipped(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }

    /// The text with U+FFFD in place of each character for which `controlsText` is true: for text of an app or of a device
    /// in a line for people.
    package var withoutControls: String { withoutControls(but: []) }

    /// The same, but with line feeds and tabs: for lines that are complete and in which each name is without controls.
    package var linesWithoutControls: String { withoutControls(but: ["\n", "\t"]) }

    private func withoutControls(but allowed: Set<Unicode.Scalar>) -> String {
        guard unicodeScalars.contains(where: { $0.controlsText && !allowed.contains($0) }) else { return self }
        return String(
            String.UnicodeScalarView(
                unicodeScalars.map { $0.controlsText && !allowed.contains($0) ? "\u{fffd}" : $0 }))
    }
}
