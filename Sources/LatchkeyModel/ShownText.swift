// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with U+FFFD in place of each character that could control a terminal, start a line or reorder one: for text
    /// of an app or of a device in a line for people.
    package var withoutControls: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                        "\u{fffd}"
                    default: scalar
                    }
                }))
    }
}
