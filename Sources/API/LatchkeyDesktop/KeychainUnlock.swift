// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords

/// Asks the user to unlock the keychain, in a process of its own.
///
/// The program that shows prompts hides its memory and must not be a client (`ActivityNews`), so it starts itself once more.
/// That process can do no more than every program of the user: the daemon asks the user at a prompt.
public enum KeychainUnlock {
    /// Why the user was not asked, for a message in the language of the session.
    public enum Problem: Equatable, Sendable {
        /// The process could not be started, or ended early: the program may have been replaced or removed.
        case notStarted
        /// The daemon could not be reached, or could show no prompt.
        case notAsked

        /// What failed.
        public var title: String {
            let words = Words.ofSession
            return words("The keychain was not unlocked")
        }

        /// What the user can do.
        public var body: String {
            let words = Words.ofSession
            return switch self {
            case .notStarted:
                words(
                    """
                    The program that asks you could not be started. Try again. If that does not help, log out and in again, \
                    or install Latchkey again.
                    """)
            case .notAsked:
                words("Latchkey could not ask you. Health in Latchkey Settings says what is wrong.")
            }
        }
    }

    /// The option of the program that asks.
    public static let option = "--unlock"
    /// The exit status after a prompt that did not unlock the keychain, and has shown why.
    private static let wasAsked: Int32 = 1
    /// The exit status without a prompt, of sysexits(3).
    private static let wasNotAsked: Int32 = 69

    /// Asks, for `start`. Blocks until the user has answered.
    ///
    /// - Returns: the exit status.
    public static func run() -> Int32 {
        do throws(SettingsFailure) { try KeychainControl().unlock() } catch { return status(error.code) }
        return 0
    }

    static func status(_ code: SettingsFailure.Code) -> Int32 {
        switch code {
        case .cancelled, .notAuthenticated, .delayed: wasAsked
        case .unavailable, .storeUnusable, .noPrompt, .locked, .passcodeNotSet, .notOpened, .exists, .notFound,
            .noReader, .unplugged, .notAllowed, .other:
            wasNotAsked
        }
    }

    /// Starts this program once more. Blocks until it ends, which it does when the user has answered.
    ///
    /// - Returns: why the user was not asked; nil if they were.
    public static func start() -> Problem? { start { () throws(SystemError) in try ActivityNews.start([option]) } }

    static func start(_ start: () throws(SystemError) -> (pid_t, Descriptor)) -> Problem? {
        let (process, output): (pid_t, Descriptor)
        do throws(SystemError) { (process, output) = try start() } catch { return .notStarted }
        // A failure to read is the end of the output, too.
        while let bytes = try? output.read(atMost: 1024), !bytes.isEmpty {}
        let status = Processes.wait(process, killAfter: ActivityNews.endSeconds)
        guard status & 0x7f == 0 else { return .notStarted }
        return switch (status >> 8) & 0xff {
        case 0, wasAsked: nil
        case wasNotAsked: .notAsked
        default: .notStarted
        }
    }
}
