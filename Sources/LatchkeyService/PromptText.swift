// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Makes text of a caller fit to be shown: one line, no control, no direction marks, not too long (abuse case 19).
enum PromptText {
    /// Stands for what is not shown, so that the person sees that there was something.
    private static let replacement = "\u{fffd}"

    /// Cleans and clips.
    static func clean(_ text: String, characters limit: Int) -> String {
        var result = ""
        var count = 0
        // Of spaces in a row, and of what is not shown, one is enough.
        var last = " "
        for character in text {
            let next = shown(character)
            if next == last, next == " " || next == replacement { continue }
            guard count < limit else { return result + "…" }
            result += next
            last = next
            count += 1
        }
        if last == " " { result = String(result.dropLast()) }
        return result
    }

    private static func shown(_ character: Character) -> String {
        if character.isWhitespace || character.isNewline { return " " }
        var scalars = String.UnicodeScalarView()
        for scalar in character.unicodeScalars.prefix(8) {
            if isShown(scalar) {
                scalars.append(scalar)
            } else if !(isJoiner(scalar) && !scalars.isEmpty) {
                return replacement
            }
        }
        return String(scalars)
    }

    /// What only joins or parts the letters and pictures of one character (UAX 29): the text reads well without it.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200c}" || scalar == "\u{200d}" }

    /// Control, format (bidi, zero width), private, unassigned and surrogate code points are replaced.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// The title of the fallback button; nil when there is none.
    static func fallbackTitle(_ prompting: Prompting, plan: AuthenticationPlan) -> String? {
        switch prompting.fallbackTitle {
        case nil: plan.stages.contains { $0.contains(.passcode) } ? "Enter Passcode" : "Enter Password"
        case "": nil
        case let title?: clean(title, characters: Limits.titleCharacters)
        }
    }

    /// The title of the cancel button.
    static func cancelTitle(_ prompting: Prompting) -> String {
        let title = clean(prompting.cancelTitle ?? "", characters: Limits.titleCharacters)
        return title.isEmpty ? "Cancel" : title
    }
}
