// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySimulator
import Security
import Testing

@Suite struct ErrorMessageTests {
    private func message(_ status: OSStatus) -> String? { SecCopyErrorMessageString(status, nil) as String? }

    /// Makes this thread's last failure one without words: another test's on this thread may have had some.
    private func forgetLastFailure() { #expect(SecItemDelete([:] as NSDictionary) == errSecParam) }

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

    @Test func sentencesTellCodesApart_OT01() throws {
        forgetLastFailure()
        let codes = try Table("security.tsv").values("error").values.compactMap(OSStatus.init)
        // Five codes have two names.
        #expect(Set(codes.compactMap(message)).count == Set(codes).count)
    }

    @Test func systemErrorsAreNamedAsSuch_OT01() {
        #expect(message(100_000) == "UNIX[Success]")
        #expect(message(100_002) == "UNIX[No such file or directory]")
        #expect(message(100_255)?.hasPrefix("UNIX[") == true)
    }

    @Test(arguments: [1, -1, 99_999, 100_256, .min, .max, -25_400] as [OSStatus])
    func anyOtherCodeIsItsNumber_OT01(code: OSStatus) {
        #expect(message(code) == "OSStatus \(code)")
    }

    @Test func theMessageIsAStringInEveryFormThatAppsUse() {
        let bridged: String? = SecCopyErrorMessageString(errSecItemNotFound, nil) as String?
        let text = SecCopyErrorMessageString(errSecItemNotFound, nil)?.description
        let forced = "\(SecCopyErrorMessageString(errSecItemNotFound, nil) ?? "unknown" as CFString)"
        #expect(bridged == text)
        #expect(bridged == forced)
    }

    @Test func theExplanationIsOfTheThreadsLastFailureOnly() async throws {
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

    @Test func noMessageHoldsASecretOrAnAccount() throws {
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
