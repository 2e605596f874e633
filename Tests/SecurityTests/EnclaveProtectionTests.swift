// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LocalAuthentication
import Security
import TestPromises
import Testing

@testable import LatchkeySimulator

/// Keys of the Secure Enclave are usable only after the authentication that their access control requires.
@Suite(.onEachEnclave) struct EnclaveProtectionTests {
    private func machine(
        _ flags: SecAccessControlCreateFlags, sensor: Simulator.Sensor = .touchID
    ) throws -> (Simulator, SecKey) {
        let simulator = try EachEnclave.machine(sensor: sensor)
        return (simulator, try simulator.run { try makeKey(enclaveParameters([.privateKeyUsage, flags])) })
    }

    /// The domain and the code of the error of signing; nil when it succeeds.
    private func refusal(_ key: SecKey) -> String? { errorOfSigning(key).map { "\($0.domain) \($0.code)" } }

    @Test func theKeysOfTheSecondRunAreThoseOfATPM() throws {
        let (simulator, _) = try machine(.biometryAny)
        let status = try simulator.client.call(Request.Status())
        #expect(status.enclave == (EachEnclave.isTPM ? .tpm : .software))
        #expect(status.enclaveDevice == (EachEnclave.isTPM ? .program : nil), "swtpm is no chip")
    }

    @Test func biometryAuthorisesAKeyOfBiometryAny_SE04() throws {
        let (simulator, key) = try machine(.biometryAny)
        simulator.touch(matching: true)
        simulator.run { #expect(refusal(key) == nil) }
    }

    @Test func theOutcomeOfThePromptIsTheErrorOfTheOperation_SK01() throws {
        let (simulator, key) = try machine(.biometryAny)
        simulator.cancel()
        simulator.run { #expect(refusal(key) == "\(authenticationDomain) -2") }
        for _ in 0..<3 { simulator.touch(matching: false) }
        simulator.run { #expect(refusal(key) == "\(authenticationDomain) -1") }
    }

    @Test func readingPublicKeyAndAttributesAndDeletingDoNotPrompt_SE04() throws {
        let (simulator, key) = try machine(.biometryCurrentSet)
        try simulator.run {
            let quiet = Query.key().with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
            let external = try external(publicKey(key))
            #expect(external.count == 65)
            #expect(find(quiet.attributes).status == errSecSuccess)
            #expect(find(quiet.object).status == errSecSuccess)
            #expect(delete(.key()) == errSecSuccess)
        }
    }

    @Test func aKeyFoundWithoutInteractionSignsNothing_abuse25() throws {
        let (simulator, _) = try machine(.userPresence)
        try simulator.run {
            let key = try findKey(Query.key().with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail))
            #expect(refusal(key) == "\(authenticationDomain) -1004")
            let context = LAContext()
            context.interactionNotAllowed = true
            let bound = try findKey(Query.key().with(kSecUseAuthenticationContext, context))
            #expect(refusal(bound) == "\(authenticationDomain) -1004")
        }
    }

    @Test func aContextWithAProofDoesNotPromptAgain_SE04_AC08() async throws {
        let (simulator, _) = try machine(.biometryAny)
        try await simulator.run {
            let context = LAContext()
            simulator.touch(matching: true)
            try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign")
            context.interactionNotAllowed = true
            let key = try findKey(Query.key().with(kSecUseAuthenticationContext, context))
            #expect(refusal(key) == nil)
            #expect(refusal(key) == nil)
            context.invalidate()
            #expect(refusal(key) == "\(authenticationDomain) -10")
        }
    }

    @Test func theContextGivenAtCreationIsUsedByTheKey_SE04() async throws {
        let simulator = try EachEnclave.machine()
        try await simulator.run {
            let context = LAContext()
            simulator.touch(matching: true)
            try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign")
            context.interactionNotAllowed = true
            let key = try makeKey(enclaveParameters([.privateKeyUsage, .biometryAny], context: context))
            #expect(refusal(key) == nil)
        }
    }

    @Test(.promise("abuse.10")) func aContextWithoutAProofUsesNoKey_abuse10() throws {
        let (simulator, _) = try machine(.biometryAny)
        try simulator.run {
            let key = try findKey(Query.key().with(kSecUseAuthenticationContext, LAContext()))
            simulator.touch(matching: false)
            simulator.cancel()
            #expect(refusal(key) == "\(authenticationDomain) -2")
        }
    }

    /// A context handle of the same machine that belongs to another connection.
    @Test(.promise("abuse.11")) func aHandleOfAnotherConnectionUsesNoKey_abuse11() async throws {
        let (simulator, _) = try machine(.biometryAny)
        try await simulator.run {
            let reference = try #require(find(Query.key().reference).result as? Data)
            let context = LAContext()
            simulator.touch(matching: true)
            try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign")
            let handle = try (context as any AuthenticationContext).handle()
            let request = Request.UseEnclaveKey(
                name: .stored(Array(reference)), operation: .sign(digest: [UInt8](repeating: 1, count: 32)),
                authentication: Authentication(context: handle))
            #expect(throws: Never.self) { try simulator.client.call(request) }
            let machine = simulator.machine
            let other = Client(application: "app") { machine.connect("app") }
            #expect(throws: Failure(.invalidContext)) { try other.call(request) }
        }
    }

    @Test func afterAnEnrolmentChangeTheKeyIsFoundButUnusable_SE05_abuse32() async throws {
        let (simulator, key) = try machine(.biometryCurrentSet)
        try await simulator.run {
            let context = LAContext()
            simulator.touch(matching: true)
            try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign")
            let bound = try findKey(Query.key().with(kSecUseAuthenticationContext, context))
            #expect(refusal(bound) == nil)
            try simulator.replaceFinger()
            #expect(find(Query.key().object).status == errSecSuccess)
            for key in [bound, key] { #expect(refusal(key) == "\(authenticationDomain) -1") }
            #expect(update(.key(), [kSecAttrLabel as String: "new"]) == errSecAuthFailed)
            #expect(delete(.key()) == errSecSuccess)
        }
    }

    @Test func aKeyOfBiometryAnySurvivesEnrolmentChanges_AC03() throws {
        let (simulator, key) = try machine(.biometryAny)
        try simulator.replaceFinger()
        simulator.touch(matching: true)
        simulator.run { #expect(refusal(key) == nil) }
    }

    @Test func thePasscodeAuthorisesAKeyOfDevicePasscode() throws {
        let (simulator, key) = try machine(.devicePasscode)
        simulator.enter(passcode: "1234")
        simulator.run { #expect(refusal(key) == nil) }
    }

    @Test func orNeedsOneConstraintAndAndNeedsBoth_AC02() throws {
        let (one, either) = try machine([.biometryAny, .or, .devicePasscode])
        one.touch(matching: true)
        one.run { #expect(refusal(either) == nil) }
        let (two, both) = try machine([.biometryAny, .and, .devicePasscode])
        two.touch(matching: true)
        two.enter(passcode: "1234")
        two.run { #expect(refusal(both) == nil) }
        two.touch(matching: true)
        two.cancel()
        two.run { #expect(refusal(both) == "\(authenticationDomain) -2") }
    }

    @Test func anApplicationPasswordIsPartOfTheKey_AC05() throws {
        let simulator = try EachEnclave.machine()
        try simulator.run {
            func context(_ password: String?) -> LAContext {
                let context = LAContext()
                if let password { _ = context.setCredential(Data(password.utf8), type: .applicationPassword) }
                return context
            }
            let parameters = { (context: LAContext?) in
                enclaveParameters([.privateKeyUsage, .applicationPassword], context: context)
            }
            #expect(try statusOfMaking(parameters(nil)) == errSecInteractionNotAllowed)
            let key = try makeKey(parameters(context("right")))
            #expect(refusal(key) == nil)
            let wrong = try findKey(Query.key().with(kSecUseAuthenticationContext, context("wrong")))
            #expect(refusal(wrong) == "\(authenticationDomain) -1")
            let unasked = try findKey(.key())
            #expect(refusal(unasked) == "\(authenticationDomain) -1004")
        }
    }

    @Test func aKeyWithABiometryConstraintNeedsEnrolledBiometry_AC03() throws {
        let simulator = try EachEnclave.machine()
        try simulator.unenroll()
        try simulator.run {
            let parameters = enclaveParameters([.privateKeyUsage, .biometryAny])
            let status = try statusOfMaking(parameters)
            #expect(status == errSecAuthFailed)
        }
    }

    @Test func removingThePasscodeInvalidatesItsProofs() throws {
        let (simulator, _) = try machine(.devicePasscode)
        try simulator.run {
            let context = LAContext()
            simulator.enter(passcode: "1234")
            let key = try findKey(Query.key().with(kSecUseAuthenticationContext, context))
            #expect(refusal(key) == nil)
            context.interactionNotAllowed = true
            #expect(refusal(key) == nil)
            try simulator.removePasscode("1234")
            #expect(refusal(key) == "\(authenticationDomain) -1004")
        }
    }

    @Test func removingThePasscodeRemovesKeysThatNeedIt_KC15() throws {
        let simulator = try EachEnclave.machine()
        try simulator.run {
            let key = try makeKey(
                enclaveParameters(protection: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly))
            #expect(refusal(key) == nil)
            try simulator.removePasscode("1234")
            #expect(find(Query.key().object).status == errSecItemNotFound)
            #expect(errorOfSigning(key)?.code == Int(errSecItemNotFound))
        }
    }

    @Test func refusedUsesOfKeysAndItemsAreInTheAuditLog() throws {
        let simulator = try EachEnclave.machine()
        func refusals() throws -> Int {
            let log = Request.Log(after: 0, limit: 100, verifies: false)
            return try simulator.client.call(log).lines.count { $0.event == .refused }
        }
        try simulator.run {
            func context(_ password: String) -> LAContext {
                let context = LAContext()
                _ = context.setCredential(Data(password.utf8), type: .applicationPassword)
                return context
            }
            _ = try makeKey(enclaveParameters([.privateKeyUsage, .applicationPassword], context: context("right")))
            let wrong = try findKey(Query.key().with(kSecUseAuthenticationContext, context("wrong")))
            #expect(refusal(wrong) == "\(authenticationDomain) -1")
            #expect(try refusals() == 1)
            // The audit log combines the refusals of one program within a minute into one entry.
            try simulator.advance(by: .seconds(61))
            let password = Query.password("account")
            #expect(
                add(
                    password.secret().under(.applicationPassword)
                        .with(kSecUseAuthenticationContext, context("right"))) == errSecSuccess)
            let guess = password.with(kSecUseAuthenticationContext, context("wrong"))
            #expect(find(guess.data).status == errSecAuthFailed)
            #expect(try refusals() == 2)
            try simulator.advance(by: .seconds(61))
            #expect(update(guess, [kSecAttrLabel as String: "new"]) == errSecAuthFailed)
            #expect(try refusals() == 3)
            let dead = try makeKey(enclaveParameters([.privateKeyUsage, .biometryCurrentSet], tag: "dead"))
            try simulator.replaceFinger()
            try simulator.advance(by: .seconds(61))
            #expect(refusal(dead) == "\(authenticationDomain) -1")
            #expect(try refusals() == 4)
        }
    }

    @Test func usesAreInTheAuditLogBeforeTheSignatureIsReturned() throws {
        let (simulator, key) = try machine(.biometryAny)
        simulator.touch(matching: true)
        try simulator.failNext(.diskFull)
        // A use that cannot be written to the audit log is refused.
        simulator.run { #expect(refusal(key) == "\(NSOSStatusErrorDomain) \(errSecDiskFull)") }
    }
}
