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
    case is NSSet: CFSetGetTypeID()
    case is NSNull: CFNullGetTypeID()
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
/// The type of `CFSet`.
public func CFSetGetTypeID() -> CFTypeID { 17 }
/// The type of `CFNull`.
public func CFNullGetTypeID() -> CFTypeID { 16 }

/// Whether both objects have one type and are equal. Stands for `CFEqual`.
public func CFEqual(_ one: CFTypeRef!, _ other: CFTypeRef!) -> Bool {
    guard let one = one as? NSObject, let other = other as? NSObject, CFGetTypeID(one) == CFGetTypeID(other) else {
        return false
    }
    return one.isEqual(other)
}

/// The code of an error. Stands for `CFErrorGetCode`.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error.code }
/// The domain of an error. Stands for `CFErrorGetDomain`.
public func CFErrorGetDomain(_ error: CFError!) -> CFErrorDomain! { error.domain as NSString }
/// The details of an error. Stands for `CFErrorCopyUserInfo`.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! { error.userInfo as NSDictionary }
/// A sentence for a person. Stands for `CFErrorCopyDescription`.
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! { error.localizedDescription as NSString }
/// Makes an error. Stands for `CFErrorCreate`.
public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// Number of bytes. Stands for `CFDataGetLength`.
public func CFDataGetLength(_ data: CFData!) -> CFIndex { data.length }
/// The bytes, valid as long as the data. Stands for `CFDataGetBytePtr`.
public func CFDataGetBytePtr(_ data: CFData!) -> UnsafePointer<UInt8>! {
    data.bytes.assumingMemoryBound(to: UInt8.self)
}
/// Data over bytes that are not copied. Stands for `CFDataCreateWithBytesNoCopy`.
///
/// - Parameters:
///   - allocator: ignored.
///   - bytes: the bytes; they have to stay as they are while the data lives.
///   - length: their number.
///   - bytesDeallocator: `kCFAllocatorNull` leaves the bytes to the caller; any other frees them with `free`.
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard let bytes, length >= 0 else { return nil }
    return NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

/// Number of elements. Stands for `CFArrayGetCount`.
public func CFArrayGetCount(_ array: CFArray!) -> CFIndex { array.count }
