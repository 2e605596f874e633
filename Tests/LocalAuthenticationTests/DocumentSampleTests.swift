// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LocalAuthentication
import Security
import Synchronization
import Testing

/// The code printed in source-documents 000, 001 and 002 behaves as these documents say.
@Suite struct DocumentSampleTests {
    // MARK: - 000: a service and a mock

    @MainActor @Test func theServiceAuthenticatesAndLogsOut() async throws {
        let simulator = try Simulator()
        await simulator.run {
            let service = BiometricService()
            service.checkAvailability()
            #expect(service.biometryType == .touchID)
            #expect(service.error == nil)
            simulator.touch(matching: true)
            await service.authenticate()
            #expect(service.isAuthenticated)
            service.logout()
            #expect(!service.isAuthenticated)
            simulator.cancel()
            await service.authenticate()
            #expect(!service.isAuthenticated)
            #expect(service.error == "Authentication was cancelled.")
        }
    }

    @MainActor @Test func theServiceReportsWhyBiometryCannotBeUsed() throws {
        try Simulator(sensor: .faceID, isEnrolled: false).run {
            let service = BiometricService()
            service.checkAvailability()
            #expect(service.biometryType == .none)
            #expect(service.error?.contains("enrolled") == true)
        }
    }

    private struct Mock: BiometryEvaluating {
        var biometryType: LABiometryType { .touchID }
        func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
            error?.pointee = LAError(.biometryLockout) as NSError
            return false
        }
        func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
            throw LAError(.authenticationFailed)
        }
    }

    @Test func aMockReplacesAContext() async throws {
        let mock: any BiometryEvaluating = Mock()
        var error: NSError?
        #expect(!mock.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect((error as? LAError)?.code == .biometryLockout)
        await #expect(throws: LAError(.authenticationFailed)) {
            try await mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
        }
    }

    @Test func aContextConformsToTheProtocol() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        try await simulator.run { () async throws in
            let evaluator: any BiometryEvaluating = LAContext()
            #expect(evaluator.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(try await evaluator.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test"))
            #expect(evaluator.biometryType == .touchID)
        }
    }

    // MARK: - 000: handling errors

    /// The document's `switch`; each case returns a short name for the comment that the document has there.
    private func handled(_ context: LAContext, _ policy: LAPolicy) async -> String {
        do {
            let authenticated = try await context.evaluatePolicy(policy, localizedReason: "Authenticate")
            guard authenticated else { return "false" }
            return "authenticated"
        } catch let error as LAError {
            switch error.code {
            case .authenticationFailed: return "mismatch"
            case .userCancel: return "silent"
            case .userFallback: return "password"
            case .biometryNotAvailable: return "no hardware"
            case .biometryNotEnrolled: return "not enrolled"
            case .biometryLockout: return "locked"
            case .passcodeNotSet: return "no passcode"
            default: return "other"
            }
        } catch {
            return "unknown"
        }
    }

    @Test func everyErrorOfTheTableIsHandled() async throws {
        let owner = LAPolicy.deviceOwnerAuthentication
        let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics
        let cases: [(String, LAPolicy, Simulator, (Simulator) -> Void)] = [
            ("authenticated", owner, try Simulator(), { $0.touch(matching: true) }),
            ("mismatch", biometry, try Simulator(), { for _ in 0..<3 { $0.touch(matching: false) } }),
            ("silent", owner, try Simulator(), { $0.cancel() }),
            ("no hardware", biometry, try Simulator(sensor: .none), { _ in }),
            ("not enrolled", biometry, try Simulator(isEnrolled: false), { _ in }),
            ("no passcode", owner, try Simulator(passcode: nil), { _ in }),
            (
                "password", biometry, try Simulator(),
                { simulator in
                    simulator.touch(matching: false)
                    simulator.chooseFallback()
                }
            ),
        ]
        for (word, policy, simulator, script) in cases {
            script(simulator)
            await simulator.run { #expect(await handled(LAContext(), policy) == word) }
        }
    }

    // MARK: - 000: an item behind biometry

    @Test func theSampleOfAProtectedItemWorks() throws {
        let simulator = try Simulator()
        try simulator.run { () throws in
            guard
                let accessControl = SecAccessControlCreateWithFlags(
                    nil,
                    kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                    .biometryCurrentSet,
                    nil
                )
            else {
                Issue.record("no access control")
                return
            }
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrAccount as String: "user_token",
                kSecValueData as String: Data("secret-token".utf8),
                kSecAttrAccessControl as String: accessControl,
            ]
            let addStatus = SecItemAdd(item as CFDictionary, nil)
            #expect(addStatus == errSecSuccess)

            simulator.touch(matching: true)
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrAccount as String: "user_token",
                kSecReturnData as String: true,
                kSecUseAuthenticationContext as String: LAContext(),
            ]
            var result: AnyObject?
            let readStatus = SecItemCopyMatching(query as CFDictionary, &result)
            #expect(readStatus == errSecSuccess)
            #expect(result as? Data == Data("secret-token".utf8))
        }
    }

    // MARK: - 002: recommended steps

    /// The document's three steps: create a context, evaluate it, and pass it to the keychain call.
    @Test func theThreeStepsShowOnePrompt() async throws {
        let machine = try RecordingMachine()
        let context = machine.run { LAContext() }
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "my service name",
            // The value of kSecUseAuthenticationUIFail, which is deprecated: its name would be a compiler warning.
            kSecUseAuthenticationUI as String: "u_AuthUIF",
            kSecValueData as String: Data("my secret data".utf8),
            kSecAttrAccessControl as String: SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil) as Any,
        ]
        machine.run { #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess) }
        machine.perform(.touch(matching: true))
        #expect(await ending(.deviceOwnerAuthenticationWithBiometrics, context) == .success)
        machine.run {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: "my service name",
                kSecReturnData as String: true,
                kSecUseAuthenticationContext as String: context,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            #expect(result as? Data == Data("my secret data".utf8))
        }
        #expect(machine.shown.count == 1)
    }

    /// The deprecated flag names of the document mean the current flags.
    @available(*, deprecated, message: "uses the deprecated names")
    @Test func theOldFlagNamesMeanTheNewFlags() {
        let old = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, [.touchIDCurrentSet], nil)
        let new = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil)
        #expect(old != nil)
        #expect(old == new)
    }
}
