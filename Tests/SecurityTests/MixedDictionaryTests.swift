// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// `NSString` and `NSNumber` equal the Swift values they bridge to, as in Apple's Foundation
/// (docs/reference/compatibility.md).
@Suite struct MixedDictionaryTests {
    @Test func anNSStringKeyEqualsItsString() {
        #expect(AnyHashable("text" as NSString) == AnyHashable("text"))
        #expect(AnyHashable("text" as NSString).hashValue == AnyHashable("text").hashValue)
        #expect(AnyHashable("text" as NSString) != AnyHashable("other"))
        #expect(AnyHashable(NSMutableString(string: "text")) == AnyHashable("text"))
    }

    @Test func anNSNumberKeyEqualsItsNumber() {
        #expect(AnyHashable(NSNumber(value: true)) == AnyHashable(true))
        #expect(AnyHashable(NSNumber(value: false)) == AnyHashable(false))
        #expect(AnyHashable(NSNumber(value: 42)) == AnyHashable(42))
        #expect(AnyHashable(NSNumber(value: -1 as Int8)) == AnyHashable(-1))
        #expect(AnyHashable(NSNumber(value: UInt64.max)) == AnyHashable(UInt64.max))
        #expect(AnyHashable(NSNumber(value: 0.5)) == AnyHashable(0.5))
        #expect(AnyHashable(NSNumber(value: 0.5 as Float)) == AnyHashable(0.5))
    }

    @Test func anNSNumberKeyEqualsOtherNSNumbers() {
        #expect(AnyHashable(NSNumber(value: 42)) == AnyHashable(NSNumber(value: 42 as UInt8)))
        #expect(AnyHashable(NSNumber(value: 1)) != AnyHashable(NSNumber(value: 2)))
        #expect(Set<AnyHashable>([NSNumber(value: 7), 7]).count == 1)
    }

    @Test func aLookUpFindsKeysOfBothTypes() {
        let mixed: [AnyHashable: Any] = [kSecAttrAccount: "account", kSecAttrService as String: "service"]
        #expect(mixed[kSecAttrAccount] as? String == "account")
        #expect(mixed[kSecAttrAccount as String] as? String == "account")
        #expect(mixed[kSecAttrService] as? String == "service")
        #expect(mixed[kSecAttrService as String] as? String == "service")
    }

    @Test func aKeyOfTheOtherTypeReplacesTheValue() {
        var mixed: [AnyHashable: Any] = [kSecAttrAccount: "old"]
        mixed[kSecAttrAccount as String] = "new"
        #expect(mixed.count == 1)
        #expect(mixed[kSecAttrAccount] as? String == "new")
    }
}
