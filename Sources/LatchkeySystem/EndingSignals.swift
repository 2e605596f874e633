// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The signals that end a program, kept waiting for as long as it has something to put in order first.
///
/// For programs of one thread: a signal meant for the whole program would end it in another one.
package struct EndingSignals {
    private var before = sigset_t()
    private static let numbers = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    /// Keeps them waiting from now on.
    package init() {
        var held = sigset_t()
        sigemptyset(&held)
        // One that is ignored would wait too, and count.
        for number in Self.numbers where !Self.isIgnored(number) { sigaddset(&held, number) }
        sigprocmask(SIG_BLOCK, &held, &before)
    }

    private static func isIgnored(_ number: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether one has come.
    package static var isWaiting: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Lets them do what they do: one that has come ends the program here, as if it had come just now.
    package func release() {
        var before = before
        sigprocmask(SIG_SETMASK, &before, nil)
    }
}
