// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import Widgets

/// The window with which a person controls their keychain without a shell.
///
/// It sees no passcode, no recovery code and no secret of an item: the daemon asks for and shows them at its own prompt.
@main
enum Main {
    @MainActor private static var window: SettingsWindow?

    @MainActor static func main() {
        let arguments = KeychainControl.beginProgram()
        var page = 0
        switch arguments.first {
        case nil: break
        case "--help", "-h":
            print(CommandWords.help, terminator: "")
            exit(0)
        case "--version":
            print("latchkey-settings \(KeychainControl.version)")
            exit(0)
        case let argument?:
            guard let number = PageName.allCases.firstIndex(where: { $0.rawValue == argument }) else {
                say(CommandWords.unknown(argument), hint: CommandWords.unknownHint)
                exit(64)
            }
            page = number
        }
        MainLoop.leaveNoCore()
        guard MainLoop.start(identifier: identifier, name: WindowWords.title) else {
            say(CommandWords.noDisplay, hint: CommandWords.noDisplayHint)
            exit(69)
        }
        guard
            OnlyProcess.begin(
                identifier: busName, place: arguments.first ?? "", opened: { Main.window?.startAgain($0) })
        else { exit(0) }
        MainLoop.setDirection(isRightToLeft: words.isRightToLeft)
        let window = SettingsWindow()
        Main.window = window
        window.start(page)
        MainLoop.run()
    }

    private static let identifier = "org.latchkey.Settings"

    /// The name on the session's bus. Stores that `LATCHKEY_HOME` names have windows of their own.
    private static var busName: String {
        guard let home = getenv("LATCHKEY_HOME") else { return identifier }
        // FNV-1a; a path may have characters that a name may not.
        let hash = UnsafeRawBufferPointer(start: home, count: strlen(home)).reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "\(identifier).store\(String(hash, radix: 16))"
    }

    private static func say(_ message: String, hint: String) {
        let text = Array("error: \(message)\nhint: \(hint)\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
    }
}
