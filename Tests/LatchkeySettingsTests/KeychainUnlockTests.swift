// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

@testable import LatchkeyDesktop

/// What a person is told whose keychain the button of a message did not unlock.
@Suite struct KeychainUnlockTests {
    private func start(_ script: String) -> KeychainUnlock.Problem? {
        KeychainUnlock.start { () throws(SystemError) in
            let (output, input) = try Sockets.pair()
            return (try Processes.spawn("/bin/sh", ["-c", script], descriptors: [nil, input, nil]), output)
        }
    }

    @Test func aProgramThatCannotBeStartedOrEndsEarlyIsTold() {
        let missing = KeychainUnlock.start { () throws(SystemError) in throw SystemError("execve", code: ENOENT) }
        #expect(missing == .notStarted)
        // Of a linker that does not find a library, of a shell, and of a signal.
        for script in ["exit 127", "exit 64", "kill -KILL $$"] { #expect(start(script) == .notStarted, "\(script)") }
    }

    @Test func onlyWhatNoPromptHasShownIsTold() {
        #expect(start("exit 0") == nil)
        for code in SettingsFailure.Code.allCases {
            let isShown = [.cancelled, .notAuthenticated, .delayed].contains(code)
            #expect(start("exit \(KeychainUnlock.status(code))") == (isShown ? nil : .notAsked), "\(code)")
        }
    }

    @Test func eachProblemSaysWhatToDo() {
        let problems = [KeychainUnlock.Problem.notStarted, .notAsked]
        #expect(Set(problems.map(\.body)).count == 2 && problems.allSatisfy { !$0.title.isEmpty })
    }
}
