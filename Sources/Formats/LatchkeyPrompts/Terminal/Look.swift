// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords

/// The appearance of a prompt: what the caller's environment requests and the terminal can show.
///
/// It affects nothing but the appearance, because the caller controls its environment.
package struct Look: Equatable, Sendable {
    /// Whether to write one sentence after another, for screen readers and for terminals without control sequences.
    package var isPlain: Bool
    /// Whether text may be bold, faint or coloured.
    package var hasColour: Bool
    /// Whether the block is drawn on the alternate screen.
    package var hasAlternateScreen: Bool
    /// Whether the terminal accepts UTF-8.
    package var isUTF8: Bool

    /// The environment variables that affect the appearance, and those that choose the language.
    package static let variables =
        ["LATCHKEY_PROMPT", "TERM", "TMUX", "NO_COLOR", "LC_CTYPE"] + LocaleName.variables
    /// Values of TERM without support for control sequences.
    private static let dumbTerminals: Set<String> = ["dumb", "unknown", "emacs", "network"]

    /// Prefixes of values of TERM with an alternate screen (private mode 1049). `screen` is not included: its alternate
    /// screen is a setting that is off by default; tmux, which also uses the name, is detected by TMUX.
    private static let terminalsWithTwoScreens = [
        "xterm", "tmux", "alacritty", "contour", "foot", "ghostty", "gnome", "iterm", "kitty", "konsole", "mintty",
        "ms-terminal", "putty", "rxvt", "st-", "vte", "wezterm",
    ]

    /// Determines the appearance from the caller's environment variables.
    ///
    /// - Parameters:
    ///   - terminalIsUTF8: what the terminal reports (IUTF8); used when no locale is set.
    ///   - callerReadsKeys: whether the caller reads single keys: it may then be drawing on the alternate screen
    ///     itself, and leaving that screen would remove its content.
    ///   - variable: returns the value of an environment variable.
    package init(terminalIsUTF8: Bool, callerReadsKeys: Bool, variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        let terminal = value("TERM") ?? "dumb"
        isPlain = value("LATCHKEY_PROMPT") == "plain" || Look.dumbTerminals.contains(terminal)
        let isKnown = Look.terminalsWithTwoScreens.contains { terminal.hasPrefix($0) }
        hasAlternateScreen = !isPlain && !callerReadsKeys && (isKnown || value("TMUX") != nil)
        // https://no-color.org: present and not empty.
        hasColour = !isPlain && value("NO_COLOR") == nil
        isUTF8 = LocaleName.isUTF8(variable) ?? terminalIsUTF8
    }

    /// Replaces characters that this terminal cannot show.
    ///
    /// Without UTF-8, only ASCII is written: such a terminal would interpret further bytes of a character as control
    /// codes. Control characters have been removed before; any that remain are replaced here.
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

    /// The ellipsis at the end of shortened text.
    package var ellipsis: String { isUTF8 ? "…" : "..." }
}
