// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Process-wide state is tested in a process of its own.
@Suite struct DefaultWorldTests {
    @Test func withoutAWorldInScopeACallFailsAndSaysWhatToDo() async {
        await #expect(processExitsWith: .success) {
            _ = try Simulator()
            #expect(read("account").status == errSecNotAvailable)
            let words = try #require(SecCopyErrorMessageString(errSecNotAvailable, nil) as String?)
            #expect(words.contains("no world is in scope"))
            #expect(words.contains("Simulator.run"))
            #expect(words.contains("Simulator.makeDefault()"))
        }
    }

    @Test func withoutAWorldInScopeAContextFailsAndSaysWhatToDo() async {
        await #expect(processExitsWith: .success) {
            _ = try Simulator()
            var error: NSError?
            #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
            #expect((error as? LAError)?.code == .notInteractive)
            #expect(error?.localizedDescription.contains("no world is in scope") == true)
            #expect(error?.localizedRecoverySuggestion?.contains("Simulator.run") == true)
            #expect(await evaluate() == .notInteractive)
        }
    }

    @Test func aDetachedTaskIsOutsideTheScope() async {
        await #expect(processExitsWith: .success) {
            let simulator = try Simulator()
            let status = await simulator.run { await Task.detached { read("account").status }.value }
            #expect(status == errSecNotAvailable)
        }
    }

    @Test func theDefaultMachineServesCallsOutsideRun() async {
        await #expect(processExitsWith: .success) {
            let (base, other) = (try Simulator(), try Simulator())
            base.makeDefault()
            #expect(add("account", "default") == errSecSuccess)
            #expect(await Task.detached { read("account").secret }.value == "default")
            other.run { #expect(read("account").status == errSecItemNotFound, "a run overrides the default") }
            other.makeDefault()
            #expect(read("account").status == errSecItemNotFound, "the latest default is used")
            Simulator.resignDefault()
            #expect(read("account").status == errSecNotAvailable)
            base.run { #expect(read("account").secret == "default") }
        }
    }
}
