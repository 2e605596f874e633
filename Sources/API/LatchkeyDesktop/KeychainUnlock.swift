// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem

/// Asks the user to unlock the keychain, in a process of its own.
///
/// The program that shows prompts hides its memory and must not be a client (`ActivityNews`), so it starts itself once more.
/// That process can do no more than every program of the user: the daemon asks the user at a prompt.
public enum KeychainUnlock {
    /// The option of the program that asks.
    public static let option = "--unlock"

    /// Asks, for `start`. Blocks until the user has answered.
    ///
    /// - Returns: the exit status.
    public static func run() -> Int32 {
        // The prompt has shown why it failed.
        do throws(SettingsFailure) { try KeychainControl().unlock() } catch { return 1 }
        return 0
    }

    /// Starts this program once more. Blocks until it ends, which it does when the user has answered.
    public static func start() {
        guard let (process, output) = try? ActivityNews.start([option]) else { return }
        while let bytes = try? output.read(atMost: 1024), !bytes.isEmpty {}
        _ = Processes.wait(process, killAfter: ActivityNews.endSeconds)
    }
}
