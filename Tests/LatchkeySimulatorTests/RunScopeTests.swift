// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Synchronization
import Testing

/// Calls use the machine of the `run` that they are in, and no other.
@Suite(.timeLimit(.minutes(1))) struct RunScopeTests {
    /// The same account on the machine of each test case, in parallel.
    @Test(arguments: 0..<16)
    func machinesSideBySideDoNotSeeEachOther(number: Int) async throws {
        let simulator = try Simulator(sensor: number.isMultiple(of: 2) ? .touchID : .faceID)
        if number.isMultiple(of: 2) { simulator.touch(matching: true) } else { simulator.presentFace(matching: true) }
        await simulator.run {
            #expect(read("account").status == errSecItemNotFound)
            #expect(add("account", "secret \(number)", .userPresence) == errSecSuccess)
            await Task.yield()
            #expect(read("account").secret == "secret \(number)")
            let context = LAContext()
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(context.biometryType == (number.isMultiple(of: 2) ? .touchID : .faceID))
        }
    }

    @Test func aNestedRunUsesTheInnerMachine() throws {
        let (outer, inner) = (try Simulator(), try Simulator())
        outer.run {
            #expect(add("account", "outer") == errSecSuccess)
            inner.run {
                #expect(read("account").status == errSecItemNotFound)
                #expect(add("account", "inner") == errSecSuccess)
            }
            #expect(read("account").secret == "outer")
        }
        inner.run { #expect(read("account").secret == "inner") }
    }

    @Test func childTasksAreInTheScope() async throws {
        let simulator = try Simulator()
        await simulator.run {
            #expect(add("account") == errSecSuccess)
            async let child = read("account").secret
            #expect(await child == "secret")
            let secrets = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<8 { group.addTask { read("account").secret } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(secrets == Array(repeating: "secret", count: 8))
            #expect(await Task { read("account").secret }.value == "secret")
        }
    }

    @Test func aContextUsesTheMachineItWasCreatedOn() async throws {
        let (first, second) = (try Simulator(), try Simulator(passcode: nil))
        let context = first.run { LAContext() }
        second.run { #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)) }
        first.touch(matching: true)
        await second.run { #expect(await evaluate(.deviceOwnerAuthentication, context) == nil) }
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil), "outside the scope")
    }

    @Test func errorsAndResultsPassThroughRun() async throws {
        let simulator = try Simulator()
        struct Mine: Error {}
        #expect(throws: Mine.self) { try simulator.run { () throws in throw Mine() } }
        await #expect(throws: Mine.self) { try await simulator.run { () async throws in throw Mine() } }
        #expect(simulator.run { 7 } == 7)
        #expect(await simulator.run { await Task { 7 }.value } == 7)
    }

    @MainActor @Test func runStaysOnTheCallersActor() async throws {
        let simulator = try Simulator()
        await simulator.run {
            MainActor.assertIsolated()
            await Task.yield()
            MainActor.assertIsolated()
        }
    }
}
