// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

/// The asynchronous forms block no thread of the pool, and use the machine of the test.
@Suite(.simulator(waitsForActions: true)) struct BackgroundCallTests {
    private let store = KeychainStore()

    @Test func asynchronousFormsDoWhatSynchronousFormsDo() async throws {
        #expect(try await !store.contains(.token))
        try await store.store("text", in: .token)
        #expect(try await store.string(of: .token) == "text")
        try await store.store(encoding: ["a": 1], in: .token)
        #expect(try await store.value(of: .token) == ["a": 1])
        try await store.store(Data([1]), in: .token)
        #expect(try await store.data(of: .token) == Data([1]))
        #expect(try await store.accounts(service: "service") == ["account"])
        await #expect(throws: KeychainError(status: errSecDuplicateItem)) {
            try await store.add(Data([2]), in: .token)
        }
        try await store.remove(.token)
        await #expect(throws: KeychainError(status: errSecItemNotFound)) { try await store.data(of: .token) }
        try await store.add(Data([2]), in: .token)
        let found = await KeychainStore.inBackground {
            SecItemDelete([kSecClass: kSecClassGenericPassword] as CFDictionary)
        }
        #expect(found == errSecSuccess, "on the machine of the test")
    }

    /// Starts more reads than the pool has threads. The touch is queued by a task of the pool after all reads have
    /// begun: if each read blocked a thread of the pool, it would never be queued.
    @Test func moreReadsThanPoolThreadsCanWaitForPrompts() async throws {
        let simulator = try machine()
        let readers = ProcessInfo.processInfo.activeProcessorCount * 4
        try await store.store("s3cret", in: .token, protection: .userPresence)
        let events = Events()
        try await withThrowingTaskGroup { group in
            for _ in 0..<readers {
                group.addTask {
                    await events.add("begun")
                    let text = try await store.string(of: .token)
                    #expect(text == "s3cret")
                    await events.add("read")
                }
            }
            group.addTask {
                while await events.all.count < readers { await Task.yield() }
                // Suspends repeatedly while the reads wait.
                for _ in 0..<100 { await Task.yield() }
                await events.add("touch")
                for _ in 0..<readers { simulator.touch(matching: true) }
            }
            try await group.waitForAll()
        }
        let expected =
            Array(repeating: "begun", count: readers) + ["touch"] + Array(repeating: "read", count: readers)
        #expect(await events.all == expected)
    }

    @Test func writersOfOneEntryAllEndWithSuccess() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                group.addTask {
                    try await store.store("\(number)", in: .token)
                    if number.isMultiple(of: 3) { try await store.remove(.token) }
                }
            }
            try await group.waitForAll()
        }
    }

    @MainActor @Test func aPromptDoesNotBlockTheMainActor() async throws {
        try await store.store("s3cret", in: .token, protection: .userPresence)
        var events: [String] = []
        let read = Task {
            let text = try await store.string(of: .token)
            events.append("read")
            return text
        }
        let other = Task {
            events.append("main actor")
            try machine().touch(matching: true)
        }
        try await other.value
        #expect(try await read.value == "s3cret")
        #expect(events == ["main actor", "read"])
    }

    @Test func cancellingTheTaskEndsTheRead() async throws {
        try await store.store("s3cret", in: .token, protection: .userPresence)
        let simulator = try machine()
        let read = Task { try await store.string(of: .token) }
        while simulator.transcript.lines.allSatisfy({ !$0.contains("prompt") }) { await Task.yield() }
        read.cancel()
        // The user was not rejected, and no password was wrong: the kind must be `cancelled`.
        await #expect(throws: KeychainError(status: errSecUserCanceled)) { try await read.value }
    }

    @Test func anAlreadyCancelledTaskReadsNothing() async throws {
        try await store.store("s3cret", in: .token, protection: .applicationPassword, prompt: .standard.password("pw"))
        let read = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await store.string(of: .token, prompt: .standard.password("pw"))
        }
        read.cancel()
        await #expect(throws: KeychainError(status: errSecUserCanceled)) { try await read.value }
    }

    @Test func cancellingTheTaskEndsTheSignature() async throws {
        let pair = try EnclaveKeyPair.create(tag: "login")
        let simulator = try machine()
        let signing = Task { try await pair.sign(Data("nonce".utf8)) }
        while simulator.transcript.lines.allSatisfy({ !$0.contains("prompt") }) { await Task.yield() }
        signing.cancel()
        await #expect(throws: KeychainError(status: errSecUserCanceled)) { try await signing.value }
    }

    @Test func theMessageIsThatOfTheFailedCall() async throws {
        try machine().failNext(.diskFull)
        do {
            try await store.store("x", in: .token)
            Issue.record("it was stored")
        } catch {
            #expect(error.kind == .diskFull)
            #expect(!error.message.isEmpty)
        }
    }
}
