// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Makes text of a caller fit to be shown: one line, no control, no direction marks, not too long (abuse case 19).
enum PromptText {
    /// Cleans and clips.
    static func clean(_ text: String, characters limit: Int) -> String {
        var result = ""
        var count = 0
        var endsWithSpace = true
        for character in text {
            let isSpace = character.isWhitespace || character.isNewline
            if isSpace, endsWithSpace { continue }
            let scalars = character.unicodeScalars.filter { isShown($0) }
            if !isSpace, scalars.isEmpty { continue }
            guard count < limit else { return result + "…" }
            if isSpace { result.append(" ") } else { result.unicodeScalars.append(contentsOf: scalars.prefix(8)) }
            endsWithSpace = isSpace
            count += 1
        }
        if result.hasSuffix(" ") { result.removeLast() }
        return result
    }

    /// Control, format (bidi, zero width), private, unassigned and surrogate code points are left out.
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
