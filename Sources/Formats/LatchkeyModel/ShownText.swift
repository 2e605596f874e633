// SPDX-License-Identifier: Apache-2.0

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
