// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Blocks the terminating signals while a program has state to restore, such as the modes of its terminal.
///
/// Only for single-threaded programs: another thread that does not block them would receive a signal sent to the
/// process.
package struct EndingSignals {
    private var before = sigset_t()
    private static let numbers = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    /// Blocks SIGTERM, SIGINT, SIGHUP and SIGQUIT, except those that are ignored.
    package init() {
        var held = sigset_t()
        sigemptyset(&held)
        // An ignored signal that is blocked would become pending and be reported by `isWaiting`.
        for number in Self.numbers where !Self.isIgnored(number) { sigaddset(&held, number) }
        sigprocmask(SIG_BLOCK, &held, &before)
    }

    /// Whether a signal is ignored, as nohup(1) and shells without job control leave some of them.
    package static func isIgnored(_ number: CInt) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    package static var isWaiting: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Restores the signal mask; a pending signal is delivered now.
    package func release() {
        var before = before
        sigprocmask(SIG_SETMASK, &before, nil)
    }
}
