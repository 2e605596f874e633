// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The number of the object's type; equal for objects of the same CF type. Stands for `CFGetTypeID`.
public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
    switch object {
    case is NSString: CFStringGetTypeID()
    case is NSDictionary: CFDictionaryGetTypeID()
    case is NSData: CFDataGetTypeID()
    case is NSArray: CFArrayGetTypeID()
    case is NSDate: CFDateGetTypeID()
    case let number as NSNumber: isBoolean(number) ? CFBooleanGetTypeID() : CFNumberGetTypeID()
    case is NSError: CFErrorGetTypeID()
    case is SecAccessControl: SecAccessControlGetTypeID()
    case is SecKey: SecKeyGetTypeID()
    case is SecCertificate: SecCertificateGetTypeID()
    case is SecIdentity: SecIdentityGetTypeID()
    default: 0
    }
}

/// Whether a number was made from a Bool, as `CFBoolean` is told from `CFNumber`.
func isBoolean(_ number: NSNumber) -> Bool { number.objCType.pointee == 0x63 }

/// The type of `CFString`.
public func CFStringGetTypeID() -> CFTypeID { 7 }
/// The type of `CFDictionary`.
public func CFDictionaryGetTypeID() -> CFTypeID { 18 }
/// The type of `CFData`.
public func CFDataGetTypeID() -> CFTypeID { 20 }
/// The type of `CFArray`.
public func CFArrayGetTypeID() -> CFTypeID { 19 }
/// The type of `CFDate`.
public func CFDateGetTypeID() -> CFTypeID { 42 }
/// The type of `CFNumber`.
public func CFNumberGetTypeID() -> CFTypeID { 22 }
/// The type of `CFBoolean`.
public func CFBooleanGetTypeID() -> CFTypeID { 21 }
/// The type of `CFError`.
public func CFErrorGetTypeID() -> CFTypeID { 27 }

/// The code of an error. Stands for `CFErrorGetCode`.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error.code }
/// The domain of an error. Stands for `CFErrorGetDomain`.
public func CFErrorGetDomain(_ error: CFError!) -> CFString! { error.domain as NSString }
/// The details of an error. Stands for `CFErrorCopyUserInfo`.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! { error.userInfo as NSDictionary }
/// Makes an error. Stands for `CFErrorCreate`.
public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFString!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// Number of bytes. Stands for `CFDataGetLength`.
public func CFDataGetLength(_ data: CFData!) -> CFIndex { data.length }
/// The bytes, valid as long as the data. Stands for `CFDataGetBytePtr`.
public func CFDataGetBytePtr(_ data: CFData!) -> UnsafePointer<UInt8>! {
    data.bytes.assumingMemoryBound(to: UInt8.self)
}
