// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Strongbox
import XCTest

/// The forms in which published code writes queries and handles errors.
final class FormsTests: XCTestCase {
    private let service = "strongbox.\(UUID().uuidString)"

    override func tearDownWithError() throws { try Strongbox(service: service).removeAll() }

    func testAllFormsOfAQueryAreEquivalent() throws {
        let box = Strongbox(service: service)
        box["key"] = "value"
        let strings: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecReturnData as String: true,
        ]
        let constants: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecReturnData: kCFBooleanTrue as Any,
        ]
        let hashables: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecReturnData as String: true,
        ]
        let objects: [String: AnyObject] = [
            String(kSecClass): kSecClassGenericPassword, String(kSecAttrService): service as NSString,
            String(kSecReturnData): kCFBooleanTrue,
        ]
        let mutable = NSMutableDictionary()
        mutable[kSecClass] = kSecClassGenericPassword
        mutable[kSecAttrService] = service
        mutable[kSecReturnData] = true
        let queries = [
            strings as CFDictionary, constants as CFDictionary, hashables as CFDictionary, objects as CFDictionary,
            mutable as CFDictionary, strings as NSDictionary,
        ]
        for query in queries {
            var result: CFTypeRef?
            XCTAssertEqual(SecItemCopyMatching(query, &result), errSecSuccess, "\(query)")
            XCTAssertEqual(result as? Data, Data("value".utf8))
        }
    }

    func testStringAndConstantKeysAreEqual() {
        var mixed: [AnyHashable: Any] = [kSecAttrAccount: "ada"]
        XCTAssertEqual(mixed[kSecAttrAccount as String] as? String, "ada")
        mixed["acct"] = "grace"
        XCTAssertEqual(mixed.count, 1)
        XCTAssertEqual(AnyHashable(NSNumber(value: true)), AnyHashable(true))
    }

    func testACoreFoundationErrorIsASwiftError() {
        var error: Unmanaged<CFError>?
        let rule = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, [.biometryAny, .biometryCurrentSet], &error)
        XCTAssertNil(rule)
        do {
            throw error!.takeRetainedValue() as Error  // swift-format-ignore: NeverForceUnwrap
        } catch let error as NSError {
            XCTAssertEqual(error.code, Int(errSecParam))
        }
    }

    func testErrorMatchesEveryCatchClause() {
        for thrown: Error in [LAError(.biometryLockout), LAError(.biometryLockout) as NSError] {
            do { throw thrown } catch LAError.biometryLockout {} catch { XCTFail("\(error)") }
            do { throw thrown } catch let error as LAError {
                XCTAssertEqual(error.code, .biometryLockout)
            } catch { XCTFail("\(error)") }
            XCTAssertEqual((thrown as NSError).domain, LAErrorDomain)
        }
    }

    func testObjectsHaveTypeIDs() throws {
        let rule = try XCTUnwrap(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        let object: CFTypeRef = rule
        XCTAssertEqual(CFGetTypeID(object), SecAccessControlGetTypeID())
        XCTAssertTrue(object as! SecAccessControl == rule)  // swift-format-ignore: NeverForceUnwrap
        XCTAssertEqual(CFGetTypeID("text" as CFString), CFStringGetTypeID())
    }
}
