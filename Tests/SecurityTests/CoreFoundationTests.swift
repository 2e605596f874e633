// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Uses of Core Foundation types in code that was written for Apple systems.
@Suite struct CoreFoundationTests {
    private func refusal() throws -> Unmanaged<CFError> {
        var error: Unmanaged<CFError>?
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.or, .and], &error)
        return try #require(error)
    }

    @Test func anUnmanagedErrorIsThrownAndCaughtAsNSError() throws {
        do {
            throw try refusal().takeRetainedValue() as any Error
        } catch let error as NSError {
            #expect(error.domain == NSOSStatusErrorDomain)
            #expect(error.code == Int(errSecParam))
            #expect(!error.localizedDescription.isEmpty)
        }
    }

    @Test func anUnmanagedErrorIsReleasedOnce() throws {
        weak var watched: NSError?
        do {
            let error = try refusal().takeRetainedValue()
            watched = error
            #expect(watched != nil)
            withExtendedLifetime(error) {}
        }
        #expect(watched == nil)
    }

    @Test func errorsAreCreatedAndReadByTheirFunctions() throws {
        let info = ["key": "value"] as CFDictionary
        let error: CFError = try #require(CFErrorCreate(kCFAllocatorDefault, "domain" as CFString, 7, info))
        #expect(CFErrorGetCode(error) == 7)
        #expect(CFErrorGetDomain(error) as String == "domain")
        #expect((CFErrorCopyUserInfo(error) as? [String: String]) == ["key": "value"])
    }

    @Test func typeIdentifiersDistinguishTypes() {
        let types: [(CFTypeRef, CFTypeID)] = [
            ("text" as CFString, CFStringGetTypeID()), (Data([1]) as CFData, CFDataGetTypeID()),
            ([1] as CFArray, CFArrayGetTypeID()), (["a": 1] as CFDictionary, CFDictionaryGetTypeID()),
            (Date() as CFDate, CFDateGetTypeID()), (1 as CFNumber, CFNumberGetTypeID()),
            (kCFBooleanTrue, CFBooleanGetTypeID()), (true as NSNumber, CFBooleanGetTypeID()),
            (NSError(domain: "", code: 0) as CFError, CFErrorGetTypeID()),
        ]
        for (object, type) in types { #expect(CFGetTypeID(object) == type, "\(object)") }
        #expect(Set(types.map(\.1)).count == types.count - 1, "only Booleans occur twice")
        #expect(CFGetTypeID(NSObject()) == 0)
    }

    @Test func booleansAreNumbersAndNotStrings() {
        #expect(kCFBooleanTrue as? Bool == true)
        #expect(kCFBooleanFalse as? Bool == false)
        #expect(kCFBooleanTrue.boolValue)
        let any: Any = kCFBooleanTrue as Any
        #expect(any as? String == nil)
        #expect(any as? Bool == true)
    }

    @Test func dataFunctionsReturnBytesAndLength() {
        let data = Data([1, 2, 3]) as CFData
        #expect(CFDataGetLength(data) == 3)
        #expect(Array(UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: 3)) == [1, 2, 3])
        withExtendedLifetime(data) {}
    }

    @Test func typesBridgeBothWays() {
        let dictionary = ["text": "value", "number": 1, "flag": true, "data": Data([1])] as [String: Any]
        let back = dictionary as CFDictionary as? [String: Any]
        #expect(back?["text"] as? String == "value")
        #expect(back?["number"] as? Int == 1)
        #expect(back?["flag"] as? Bool == true)
        #expect(back?["data"] as? Data == Data([1]))
        let object: CFTypeRef = Data([2]) as CFData
        #expect(object as? Data == Data([2]))
    }

    @Test func objectsAreEqualByTypeAndValue() {
        #expect(CFEqual("a" as CFString, "a" as CFString))
        #expect(!CFEqual("a" as CFString, "b" as CFString))
        #expect(!CFEqual(kCFBooleanTrue, 1 as CFNumber))
        #expect(CFEqual(kCFNull, NSNull()))
        #expect(CFGetTypeID(kCFNull) == CFNullGetTypeID())
        #expect(CFGetTypeID(Set(["a"]) as CFSet) == CFSetGetTypeID())
    }

    @Test func aMutableDictionaryIsAQuery() throws {
        var (keys, values) = (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
        let query: CFMutableDictionary = try #require(CFDictionaryCreateMutable(kCFAllocatorDefault, 0, &keys, &values))
        func pointer(_ object: CFTypeRef) -> UnsafeRawPointer {
            UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        }
        CFDictionarySetValue(query, pointer(kSecClass), pointer(kSecClassKey))
        CFDictionarySetValue(query, pointer(kSecClass), pointer(kSecClassGenericPassword))
        CFDictionaryAddValue(query, pointer(kSecClass), pointer(kSecClassKey))
        #expect(query as? [String: String] == [kSecClass as String: kSecClassGenericPassword as String])
        #expect(CFDictionaryCreateMutable(nil, 0, nil, nil)?.count == 0)
        #expect(CFArrayGetCount([1, 2] as CFArray) == 2)
    }

    @Test func errorsDescribeThemselves() throws {
        let error = try refusal().takeRetainedValue()
        #expect(CFErrorCopyDescription(error) as String == error.localizedDescription)
        let domain: CFErrorDomain = CFErrorGetDomain(error)
        #expect(domain as String == NSOSStatusErrorDomain)
        let seconds: CFTimeInterval = 0.5
        #expect(seconds == 0.5)
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    }

    @Test func uncopiedBytesAreFreedOnceOrNever() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeMutableBufferPointer { buffer in
            let data = CFDataCreateWithBytesNoCopy(nil, buffer.baseAddress, 3, kCFAllocatorNull)
            buffer[0] = 9
            #expect(data as? Data == Data([9, 2, 3]))
        }
        let own = UnsafeMutablePointer<UInt8>(OpaquePointer(malloc(2)))
        own?.update(repeating: 7, count: 2)
        #expect(CFDataCreateWithBytesNoCopy(nil, own, 2, kCFAllocatorDefault) as? Data == Data([7, 7]))
        #expect(CFDataCreateWithBytesNoCopy(nil, nil, 0, nil) == nil)
    }
}
