// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// The programs that called the Secret Service most recently: a process is examined once, with those that started it, until it
/// executes another program. So its name stays the same when one that started it ends.
final class KnownPrograms<Mark: Equatable & Sendable>: Sendable {
    private struct Known: Sendable {
        let process: ProcessName
        let mark: Mark
        let program: AskingProgram
    }

    private static var limit: Int { 32 }
    /// The most recent one last.
    private let known = Mutex<[Known]>([])

    /// Returns the program of a process, examining it if it is not known or has changed.
    ///
    /// - Parameter mark: what else must be as it was when the process was examined.
    func program(
        _ process: ProcessName, _ mark: Mark, _ examine: () throws(Failure) -> AskingProgram
    ) throws(Failure) -> AskingProgram {
        let found = known.withLock { $0.last { $0.process == process && $0.mark == mark } }
        if let found, found.program.caller.isCurrent { return found.program }
        let program = try examine()
        known.withLock { known in
            known.removeAll { $0.process == process }
            if known.count >= Self.limit { known.removeFirst() }
            known.append(Known(process: process, mark: mark, program: program))
        }
        return program
    }
}
