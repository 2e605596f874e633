// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySimulator
import Security
import Testing

@Suite struct ErrorMessageTests {
    private func message(_ status: OSStatus) -> String? { SecCopyErrorMessageString(status, nil) as String? }

    /// Replaces this thread's last failure, which may be one of another test, by a failure whose code always gets the same
    /// sentence.
    private func forgetLastFailure() {
        var items: CFArray?
        #expect(SecPKCS12Import(NSData(), NSDictionary(), &items) == errSecDecode)
    }

    @Test func everyCodeThatIsReturnedHasASentence_OT01() throws {
        let declared = try Table("security.tsv").values("error").values.compactMap(OSStatus.init)
        let returned = Status.allCases.map(\.osStatus)
        forgetLastFailure()
        for code in Set(declared + returned) {
            let sentence = try #require(message(code))
            #expect(sentence.hasSuffix("."), "\(code): \(sentence)")
            #expect(sentence.contains(" "), "\(code): \(sentence)")
        }
    }

    @Test func everyCodeHasADistinctSentence_OT01() throws {
        forgetLastFailure()
        let codes = try Table("security.tsv").values("error").values.compactMap(OSStatus.init)
        // Five values have two names each.
        #expect(Set(codes.compactMap(message)).count == Set(codes).count)
    }

    @Test func errnoCodesReturnTheSystemsMessage_OT01() {
        #expect(message(100_000) == "UNIX[Success]")
        #expect(message(100_002) == "UNIX[No such file or directory]")
        #expect(message(100_255)?.hasPrefix("UNIX[") == true)
    }

    @Test(arguments: [1, -1, 99_999, 100_256, .min, .max, -25_400] as [OSStatus])
    func anUnknownCodeReturnsItsNumber_OT01(code: OSStatus) {
        #expect(message(code) == "OSStatus \(code)")
    }

    @Test func theMessageIsAStringInEveryFormThatAppsUse() {
        let bridged: String? = SecCopyErrorMessageString(errSecItemNotFound, nil) as String?
        let text = SecCopyErrorMessageString(errSecItemNotFound, nil)?.description
        let forced = "\(SecCopyErrorMessageString(errSecItemNotFound, nil) ?? "unknown" as CFString)"
        #expect(bridged == text)
        #expect(bridged == forced)
    }

    @Test func theExplanationCoversOnlyTheThreadsLastFailure() async throws {
        let simulator = try Simulator()
        try simulator.run {
            forgetLastFailure()
            let plain = message(errSecDiskFull)
            try simulator.failNext(.diskFull)
            #expect(add(Query.password("account").secret("secret")) == errSecDiskFull)
            #expect(message(errSecDiskFull) != plain)
            #expect(delete(.password("nothing")) == errSecItemNotFound)
            #expect(message(errSecDiskFull) == plain)
        }
    }

    /// -50 and -25293 have many causes, so the message names the cause.
    @Test func aParameterErrorSaysWhichParameter() throws {
        try Simulator().run {
            forgetLastFailure()
            let plain = message(errSecParam)
            for (query, word) in [
                (Query.password().with(kSecReturnData, "yes"), "r_Data"), ([:], "kSecClass"),
                (Query.password().with(kSecAttrAccessible, "x"), "kSecAttrAccessible"),
                (Query.password().with("vwht" as CFString, "x"), "vwht"),
            ] {
                let status = exists(query)
                #expect(message(status) != plain)
                #expect(message(status)?.contains(word) == true, "\(word)")
            }
            // Refusals by the daemon.
            let synced = Query.password().with(kSecAttrSynchronizable, true)
            #expect(add(synced.secret().under(.userPresence)) == errSecParam)
            #expect(message(errSecParam)?.contains("synchronizable") == true)
            #expect(exists(Query.password().with(kSecAttrAccessGroup, "other")) == errSecMissingEntitlement)
            #expect(message(errSecMissingEntitlement)?.contains("kSecAttrAccessGroup") == true)
        }
    }

    @Test func addingAnUnsatisfiableItemReportsWhatIsMissing() throws {
        let item = Query.password("account").secret().under(.biometryCurrentSet)
        let bound = Query.password("account").secret()
            .with(kSecAttrAccessible, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
        for (sensor, isEnrolled, passcode, query, word) in [
            (Simulator.Sensor.none, false, "1234" as String?, item, "sensor"),
            (.touchID, false, "1234", item, "enrolled"),
            (.touchID, true, nil, bound, "passcode"),
            (.touchID, true, nil, item, "passcode"),
        ] {
            try Simulator(sensor: sensor, isEnrolled: isEnrolled, passcode: passcode).run {
                forgetLastFailure()
                let plain = message(errSecAuthFailed)
                #expect(add(query) == errSecAuthFailed)
                #expect(message(errSecAuthFailed) != plain)
                #expect(message(errSecAuthFailed)?.contains(word) == true, "\(message(errSecAuthFailed) ?? "")")
            }
        }
    }

    /// Without a passcode no biometry is accepted, so a rule that needs biometry is refused wherever it is given (AC-03).
    @Test func aRuleOfBiometryNeedsAPasscode_AC03() throws {
        try Simulator(sensor: .touchID, isEnrolled: true, passcode: nil).run {
            let item = Query.password("account")
            #expect(add(item.secret()) == errSecSuccess)
            let rule = Query().under(.biometryAny)
            forgetLastFailure()
            #expect(update(item, rule) == errSecAuthFailed)
            #expect(message(errSecAuthFailed)?.contains("passcode") == true)
            #expect(secret(item) == "secret")
            var error: Unmanaged<CFError>?
            let parameters = enclaveParameters([.privateKeyUsage, .biometryAny])
            #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
            let refusal = try #require(error).takeRetainedValue()
            #expect(refusal.localizedDescription.contains("passcode"), "\(refusal)")
        }
    }

    @Test func withoutAnEnclaveTheMessageNamesTheFileAndTheRestart() throws {
        try Simulator(hasSecureEnclave: false).run {
            var error: Unmanaged<CFError>?
            #expect(SecKeyCreateRandomKey(enclaveParameters() as CFDictionary, &error) == nil)
            let refusal = try #require(error).takeRetainedValue()
            #expect(refusal.localizedDescription.contains("latchkeyd.conf"))
            #expect(refusal.localizedDescription.contains("latchkey restart"))
            #expect(!"\(refusal)".contains("(null)"))
            #expect("\(refusal)".contains(refusal.localizedDescription))
        }
    }

    @Test func noMessageContainsASecretOrAnAccount() throws {
        try Simulator().run {
            let item = Query.password("account-4711").secret("secret-4711")
            let queries: [Query] = [
                item.with("zzzz" as CFString, "value-4711"), item.with(kSecAttrCreator, Data("value-4711".utf8)),
                item.with(kSecMatchLimit, "value-4711"), item.with(kSecUseAuthenticationUI, "value-4711"),
                item.with(kSecAttrAccessGroup, "group-4711"), item.with(kSecValueData, "value-4711"),
            ]
            for query in queries {
                let status = add(query)
                #expect(status != errSecSuccess)
                #expect(message(status)?.contains("4711") == false)
            }
        }
    }
}
