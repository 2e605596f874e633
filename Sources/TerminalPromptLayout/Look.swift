// SPDX-License-Identifier: Apache-2.0

/// How a prompt is to look: what the caller's environment asks for and the terminal can show.
///
/// Nothing here decides anything but a look; the caller's environment is its own to set.
package struct Look: Equatable, Sendable {
    /// Sentences one after another, for screen readers and for terminals that can do nothing else.
    package var isPlain: Bool
    /// Whether text may be bold, faint or coloured.
    package var hasColour: Bool
    /// Whether the block goes to a screen of its own, as an editor does.
    package var hasAlternateScreen: Bool
    /// Whether the terminal reads UTF-8.
    package var isUTF8: Bool

    /// The variables that are looked at, and no other.
    package static let variables = [
        "LATCHKEY_PROMPT", "TERM", "TMUX", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG",
    ]
    /// Kinds of terminals that understand no control sequence.
    private static let dumbTerminals: Set<String> = ["dumb", "unknown", "emacs", "network"]

    /// Kinds of terminals with an alternate screen (private mode 1049), by the start of their names. `screen` is none:
    /// it has one only if its user says so, and only tmux calls itself that, too.
    private static let terminalsWithTwoScreens = [
        "xterm", "tmux", "alacritty", "contour", "foot", "ghostty", "gnome", "iterm", "kitty", "konsole", "mintty",
        "ms-terminal", "putty", "rxvt", "st-", "vte", "wezterm",
    ]

    /// Reads a look from the variables of the caller.
    ///
    /// - Parameters:
    ///   - terminalIsUTF8: what the terminal says of itself (`IUTF8`); it counts when no locale is set.
    ///   - callerReadsKeys: whether the caller reads single keys: it may have drawn a screen of its own already, and
    ///     leaving the alternate one would take it away.
    package init(terminalIsUTF8: Bool, callerReadsKeys: Bool, variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        let terminal = value("TERM") ?? "dumb"
        isPlain = value("LATCHKEY_PROMPT") == "plain" || Look.dumbTerminals.contains(terminal)
        let isKnown = Look.terminalsWithTwoScreens.contains { terminal.hasPrefix($0) }
        hasAlternateScreen = !isPlain && !callerReadsKeys && (isKnown || value("TMUX") != nil)
        // https://no-color.org: present and not empty.
        hasColour = !isPlain && value("NO_COLOR") == nil
        // The order of locale(7).
        let locale = value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG")
        isUTF8 = locale.map { ["utf-8", "utf8"].contains(Look.codeset(of: $0)) } ?? terminalIsUTF8
    }

    /// What stands between the dot and the at sign of a locale's name.
    private static func codeset(of locale: String) -> String {
        guard let dot = locale.firstIndex(of: ".") else { return "" }
        return locale[locale.index(after: dot)...].prefix { $0 != "@" }.lowercased()
    }

    /// A text as this terminal can show it.
    ///
    /// Without UTF-8 nothing above ASCII is written: its second bytes would be control codes to such a terminal. Control
    /// characters never get this far; should one, it is not written either.
    package func shown(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case " "..."~": result.unicodeScalars.append(scalar)
            case "…" where !isUTF8: result += "..."
            case "“" where !isUTF8, "”" where !isUTF8: result += "\""
            case "\u{0}"..<" ", "\u{7f}"..."\u{9f}": result += isUTF8 ? "\u{fffd}" : "?"
            default: result.unicodeScalars.append(isUTF8 ? scalar : "?")
            }
        }
        return result
    }

    /// What a clipped text ends with.
    package var ellipsis: String { isUTF8 ? "…" : "..." }
}
