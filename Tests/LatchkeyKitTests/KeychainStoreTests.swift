// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

@Suite(.simulator()) struct KeychainStoreTests {
    private let store = KeychainStore()

    @Test func aValueIsStoredReadChangedAndDeleted() throws {
        #expect(try !store.contains(.token))
        try store.store("first", in: .token)
        #expect(try store.string(of: .token) == "first")
        try store.store("second", in: .token)
        #expect(try store.string(of: .token) == "second")
        #expect(try store.accounts(service: "service") == ["account"])
        try store.remove(.token)
        #expect(try !store.contains(.token))
    }

    @Test func aMissingValueIsItemNotFound() {
        let error = failure { () throws(KeychainError) in _ = try store.data(of: .token) }
        #expect(error == KeychainError(status: errSecItemNotFound))
        #expect(error?.kind == .itemNotFound)
        #expect(error?.message == SecCopyErrorMessageString(errSecItemNotFound, nil) as String?)
    }

    @Test func anEmptyValueDeletes() throws {
        try store.store("first", in: .token)
        try store.store("", in: .token)
        #expect(try !store.contains(.token))
        try store.store(Data(), in: .token)
    }

    @Test func addingDoesNotChangeAnExistingItem() throws {
        try store.add(Data("first".utf8), in: .token)
        let error = failure { () throws(KeychainError) in try store.add(Data("second".utf8), in: .token) }
        #expect(error?.kind == .alreadyThere)
        #expect(try store.string(of: .token) == "first")
    }

    @Test func deletingAMissingItemIsNotAnError() throws { try store.remove(.token) }

    @Test func anyDataIsReadBackUnchanged() throws {
        for data in [Data([0]), Data([0, 0xff, 0x0a, 0]), Data(repeating: 7, count: 1 << 20)] {
            try store.store(data, in: .token)
            #expect(try store.data(of: .token) == data)
        }
    }

    @Test func aTooLargeValueIsAnErrorWithAMessage() throws {
        try store.store("kept", in: .token)
        let error = failure { () throws(KeychainError) in
            try store.store(Data(repeating: 7, count: 1 << 20 + 1), in: .token)
        }
        #expect(error?.kind == .tooLarge)
        #expect(error?.message.isEmpty == false)
        #expect(try store.string(of: .token) == "kept")
    }

    private struct Profile: Codable, Equatable {
        var name: String
        var age: Int
    }

    @Test func aCodableValueIsReadBackUnchanged() throws {
        try store.store(encoding: Profile(name: "Ada", age: 36), in: .token)
        #expect(try store.value(of: .token) == Profile(name: "Ada", age: 36))
    }

    @Test func decodingErrorsDoNotContainTheValue() throws {
        try store.store(Data([0xff, 0xfe, 0x41]), in: .token)
        let text = failure { () throws(KeychainError) in _ = try store.string(of: .token) }
        #expect(text?.kind == .undecodable)
        try store.store("hunter2", in: .token)
        let value = failure { () throws(KeychainError) in _ = try store.value(Profile.self, of: .token) }
        #expect(value?.kind == .undecodable)
        #expect(value?.message.contains("hunter2") == false)
        try store.store("kept", in: .token)
        let odd = failure { () throws(KeychainError) in try store.store(encoding: Double.nan, in: .token) }
        #expect(odd?.kind == .unencodable)
        #expect(try store.string(of: .token) == "kept")
    }

    @Test func differentEntriesAreDifferentItems() throws {
        let entries: [KeychainEntry] =
            [
                .token, .password(service: "service", account: "other"),
                .password(service: "other", account: "account"),
                .internetPassword(server: "service", account: "account"),
                .internetPassword(server: "service", account: "account", port: 443),
                .internetPassword(server: "service", account: "account", path: "/login"),
            ] + KeychainEntry.Scheme.allCases.map { .internetPassword(server: "s", account: "a", scheme: $0) }
        for round in 1...2 {
            for (number, entry) in entries.enumerated() { try store.store("\(round) \(number)", in: entry) }
            for (number, entry) in entries.enumerated() { #expect(try store.string(of: entry) == "\(round) \(number)") }
        }
        try store.remove(.internetPassword(server: "service", account: "account"))
        #expect(try store.contains(.internetPassword(server: "service", account: "account", port: 443)))
    }

    @Test func anotherAccessGroupIsNotPermitted() {
        let error = failure { () throws(KeychainError) in
            try KeychainStore(accessGroup: "group.other").store("x", in: .token)
        }
        #expect(error?.kind == .notPermitted)
    }

    // MARK: - Protected items

    @Test func readingAProtectedItemPromptsWithTheReason() throws {
        let simulator = try machine()
        try store.store("s3cret", in: .token, protection: .currentBiometry)
        simulator.touch(matching: true)
        #expect(try store.string(of: .token, prompt: .asking("Log in")) == "s3cret")
        #expect(simulator.transcript.lines.contains { $0.contains("Log in") })
    }

    @Test func containsDoesNotPromptForAProtectedItem() throws {
        try store.store("s3cret", in: .token, protection: .userPresence)
        #expect(try store.contains(.token))
        let error = failure { () throws(KeychainError) in _ = try store.data(of: .token, prompt: .never) }
        #expect(error?.kind == .interactionNotAllowed)
        #expect(try store.accounts(service: "service") == [])
        #expect(try machine().transcript.lines.allSatisfy { !$0.contains("prompt") })
    }

    @Test func cancellingAndFailingHaveTheirKinds() throws {
        try store.store("s3cret", in: .token, protection: .currentBiometry)
        try machine().cancel()
        let cancelled = failure { () throws(KeychainError) in _ = try store.data(of: .token) }
        #expect(cancelled?.kind == .cancelled)
        for _ in 0..<3 { try machine().touch(matching: false) }
        let failed = failure { () throws(KeychainError) in _ = try store.data(of: .token) }
        #expect(failed?.kind == .authenticationFailed)
    }

    @Test func changingAProtectedItemPromptsFirst() throws {
        try store.store("old", in: .token, protection: .userPresence)
        try machine().cancel()
        let error = failure { () throws(KeychainError) in
            try store.store("new", in: .token, protection: .userPresence)
        }
        #expect(error?.kind == .cancelled)
        try machine().touch(matching: true)
        #expect(try store.string(of: .token) == "old")
        try machine().touch(matching: true)
        try store.store("new", in: .token, protection: .userPresence)
        try machine().touch(matching: true)
        #expect(try store.string(of: .token) == "new")
    }

    @Test func storingGivesAnItemItsProtection() throws {
        try store.store("open", in: .token)
        try store.store("closed", in: .token, protection: .userPresence)
        let error = failure { () throws(KeychainError) in _ = try store.data(of: .token, prompt: .never) }
        #expect(error?.kind == .interactionNotAllowed)
    }

    @Test func anEnrolmentChangeDeletesAnItemOfTheCurrentSet() throws {
        try store.store("s3cret", in: .token, protection: .currentBiometry)
        try machine().replaceFinger()
        #expect(try !store.contains(.token))
        try store.store("new", in: .token, protection: .currentBiometry)
        try machine().touch(matching: true)
        #expect(try store.string(of: .token) == "new")
    }

    @Test func anAppPasswordUnlocksItsItem() throws {
        let prompt = KeychainPrompt.standard.password("open sesame")
        try store.store("s3cret", in: .token, protection: .applicationPassword, prompt: prompt)
        #expect(try store.string(of: .token, prompt: prompt) == "s3cret")
        let wrong = failure { () throws(KeychainError) in
            _ = try store.data(of: .token, prompt: .standard.password("open barley"))
        }
        #expect(wrong?.kind == .authenticationFailed)
        let none = failure { () throws(KeychainError) in _ = try store.data(of: .token) }
        #expect(none?.kind == .interactionNotAllowed)
        #expect(try store.contains(.token))
    }

    @Test(arguments: [0, 1025]) func aPasswordOfInvalidLengthIsAnErrorWithAMessage(length: Int) {
        let prompt = KeychainPrompt.standard.password(Data(repeating: 1, count: length))
        let error = failure { () throws(KeychainError) in
            try store.store("x", in: .token, protection: .applicationPassword, prompt: prompt)
        }
        #expect(error?.kind == .badParameter)
        #expect(error?.message.contains("1,024") == true)
    }

    @Test func aContradictoryProtectionIsAnErrorWithAMessage() {
        let both = KeychainProtection(constraints: [.biometryAny, .biometryCurrentSet])
        let error = failure { () throws(KeychainError) in try store.store("x", in: .token, protection: both) }
        #expect(error?.kind == .badParameter)
        #expect(error?.message.isEmpty == false)
    }

    @Test func aContextOfTheCallerIsNotInvalidated() throws {
        try store.store("s3cret", in: .token, protection: .userPresence)
        let context = LAContext()
        try machine().touch(matching: true)
        for _ in 0..<3 { #expect(try store.string(of: .token, prompt: .context(context)) == "s3cret") }
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        context.invalidate()
        let error = failure { () throws(KeychainError) in
            _ = try store.string(of: .token, prompt: .context(context))
        }
        #expect(error?.kind == .authenticationFailed)
    }

    // MARK: - Failures

    @Test func aFullDiskDoesNotChangeTheItem() throws {
        try store.store("old", in: .token)
        try machine().failNext(.diskFull)
        let error = failure { () throws(KeychainError) in try store.store("new", in: .token) }
        #expect(error?.kind == .diskFull)
        #expect(try store.string(of: .token) == "old")
    }

    @Test func whileTheDeviceIsLockedItemsExistButCannotBeRead() throws {
        try store.store("s3cret", in: .token)
        try machine().lock()
        let error = failure { () throws(KeychainError) in _ = try store.data(of: .token) }
        #expect(error?.kind == .interactionNotAllowed)
        #expect(try store.contains(.token))
        try machine().unlock(byBiometry: false)
        #expect(try store.string(of: .token) == "s3cret")
    }

    @Test(arguments: [
        (errSecUserCanceled, KeychainError.Kind.cancelled), (errSecAuthFailed, .authenticationFailed),
        (errSecInteractionNotAllowed, .interactionNotAllowed), (errSecDiskFull, .diskFull),
        (errSecNotAvailable, .notAvailable), (errSecInvalidKeychain, .notAvailable), (errSecReadOnly, .notAvailable),
        (errSecMissingEntitlement, .notPermitted), (errSecDataTooLarge, .tooLarge), (errSecDecode, .undecodable),
        (errSecParam, .badParameter), (errSecItemNotFound, .itemNotFound), (errSecNoSuchAttr, .other), (-1, .other),
    ]) func everyCodeHasAKindAndAMessage(status: OSStatus, kind: KeychainError.Kind) {
        let error = KeychainError(status: status)
        #expect(error.kind == kind)
        #expect(!error.message.isEmpty)
        #expect(error.localizedDescription == error.message)
    }
}
