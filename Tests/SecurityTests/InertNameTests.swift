// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Names that are declared without a function return the status that their documentation gives.
@Suite struct InertNameTests {
    private enum Entry {
        case trust(SecTrust)
        case key(CFString)
    }

    @Test func unsupportedKeysReturnTheirDocumentedStatus() throws {
        try Simulator().run {
            let certificates: Query = [kSecClass as String: kSecClassCertificate]
            #expect(exists(certificates.with(kSecMatchPolicy, "policy")) == errSecUnimplemented)
            #expect(exists(Query.password().with(kSecAttrSyncViewHint, "view")) == errSecNoSuchAttr)
            #expect(add(Query.password().with(kSecAttrSyncViewHint, "view")) == errSecNoSuchAttr)
            #expect(exists(Query.password().with(kSecAttrPersistentReference, Data([1]))) == errSecParam)
            guard case .key(let name) = Entry.key(kSecImportItemTrust) else { return }
            #expect(name as String == "trust")
        }
    }

    @Test func sharingAPasswordWithABrowserIsUnimplemented() async {
        let (error, wasOnMainThread) = await withCheckedContinuation { continuation in
            SecAddSharedWebCredential("example.org" as CFString, "account" as CFString, nil) { error in
                continuation.resume(returning: (error.map { [$0.domain, String($0.code)] }, Thread.isMainThread))
            }
        }
        #expect(error == [NSOSStatusErrorDomain, String(errSecUnimplemented)])
        #expect(!wasOnMainThread)
    }
}
