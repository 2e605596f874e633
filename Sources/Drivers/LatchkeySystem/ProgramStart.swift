// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import Synchronization

/// The state in which every program of Latchkey begins, whatever the program that started it left.
package enum ProgramStart {
    /// Begins as `beginWithBytes` does. The first call of a program of which no argument is the path of a file that
    /// people choose.
    ///
    /// An argument that is not UTF-8 ends the program with status 64 and an error that shows its bytes: repaired, it would
    /// be the name of something else.
    ///
    /// - Returns: the arguments after the name of the program.
    @discardableResult
    package static func begin() -> [String] {
        beginWithBytes().enumerated().map { index, bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else {
                let text =
                    "error: argument \(index + 1) is not valid UTF-8: \(String(showing: bytes))\nhint: Names are UTF-8.\n"
                try? StandardStream.error.write(all: Array(text.utf8))
                ProgramEnd.now(64)
            }
            return text
        }
    }

    /// Takes the places of closed standard streams; makes a write to a pipe without a reader, and to a file beyond the
    /// limit of its size, an error instead of a signal. The first call of a program that decides for each argument
    /// whether it has to be text.
    ///
    /// - Returns: the bytes of the arguments after the name of the program.
    package static func beginWithBytes() -> [[UInt8]] {
        StandardStream.fillClosedOnes()
        let changed = [SIGPIPE, SIGXFSZ].filter { !EndingSignals.isIgnored($0) }
        for number in changed { signal(number, SIG_IGN) }
        changedSignals.withLock { $0 = changed }
        return (1..<max(1, Int(CommandLine.argc))).compactMap { number in
            CommandLine.unsafeArgv[number].map { argument in
                UnsafeBufferPointer(start: argument, count: strlen(argument)).map { UInt8(bitPattern: $0) }
            }
        }
    }

    /// The signals whose actions `beginWithBytes` has changed.
    private static let changedSignals = Mutex<[CInt]>([])

    /// Undoes what `beginWithBytes` has done, for a program that replaces this one: it gets the streams and the actions of
    /// signals with which this one was started.
    package static func undo() {
        for number in changedSignals.withLock({ $0 }) { signal(number, SIG_DFL) }
        StandardStream.closeFilledOnes()
    }

    /// Raises the limits that a shell can set as far as the hard limits permit (setrlimit(2)). Beyond that of the size of
    /// files a write fails with EFBIG.
    package static func raiseLimits() {
        // RLIMIT_CPU, _FSIZE, _DATA, _NOFILE and _AS, <sys/resource.h>
        for kind in [0, 1, 2, 7, 9] as [UInt32] {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(kind), &limit) == 0 else { continue }
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(__rlimit_resource_t(kind), &limit)
        }
    }
}

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
