// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Returns the identifier of an object's Core Foundation type.
///
/// - Parameter object: an object of Foundation or of this module.
/// - Returns: the number that the `...GetTypeID` function of the object's type returns; 0 for nil and for objects of
///   other types.
///
/// Apple: `CFGetTypeID(_:)`.
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

/// Whether a number was created from a `Bool`; distinguishes `CFBoolean` from `CFNumber`.
func isBoolean(_ number: NSNumber) -> Bool { number.objCType.pointee == 0x63 }

/// Returns the type identifier of strings, as `CFGetTypeID` returns it. Apple: `CFStringGetTypeID()`.
public func CFStringGetTypeID() -> CFTypeID { 7 }
/// Returns the type identifier of dictionaries, as `CFGetTypeID` returns it. Apple: `CFDictionaryGetTypeID()`.
public func CFDictionaryGetTypeID() -> CFTypeID { 18 }
/// Returns the type identifier of data objects, as `CFGetTypeID` returns it. Apple: `CFDataGetTypeID()`.
public func CFDataGetTypeID() -> CFTypeID { 20 }
/// Returns the type identifier of arrays, as `CFGetTypeID` returns it. Apple: `CFArrayGetTypeID()`.
public func CFArrayGetTypeID() -> CFTypeID { 19 }
/// Returns the type identifier of dates, as `CFGetTypeID` returns it. Apple: `CFDateGetTypeID()`.
public func CFDateGetTypeID() -> CFTypeID { 42 }
/// Returns the type identifier of numbers, as `CFGetTypeID` returns it. Apple: `CFNumberGetTypeID()`.
public func CFNumberGetTypeID() -> CFTypeID { 22 }
/// Returns the type identifier of Booleans, as `CFGetTypeID` returns it. Apple: `CFBooleanGetTypeID()`.
public func CFBooleanGetTypeID() -> CFTypeID { 21 }
/// Returns the type identifier of errors, as `CFGetTypeID` returns it. Apple: `CFErrorGetTypeID()`.
public func CFErrorGetTypeID() -> CFTypeID { 27 }
/// Returns the type identifier of sets, as `CFGetTypeID` returns it. Apple: `CFSetGetTypeID()`.
public func CFSetGetTypeID() -> CFTypeID { 17 }
/// Returns the type identifier of the null object, as `CFGetTypeID` returns it. Apple: `CFNullGetTypeID()`.
public func CFNullGetTypeID() -> CFTypeID { 16 }

/// Returns whether two objects have the same Core Foundation type and are equal.
///
/// - Parameters:
///   - one: the first object.
///   - other: the second object.
/// - Returns: true when both have the same type and are equal; false for nil and for objects that do not inherit
///   from `NSObject`.
///
/// Apple: `CFEqual(_:_:)`.
public func CFEqual(_ one: CFTypeRef!, _ other: CFTypeRef!) -> Bool {
    guard let one = one as? NSObject, let other = other as? NSObject, CFGetTypeID(one) == CFGetTypeID(other) else {
        return false
    }
    return one.isEqual(other)
}

/// Returns the code of an error, which is meaningful within the error's domain.
///
/// - Parameter error: the error; must not be nil.
/// - Returns: the code, for instance `errSecParam` in `NSOSStatusErrorDomain`.
///
/// Apple: `CFErrorGetCode(_:)`.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error.code }

/// Returns the domain of an error, which says how to read the code.
///
/// - Parameter error: the error; must not be nil.
/// - Returns: the domain, for instance `NSOSStatusErrorDomain`.
///
/// Apple: `CFErrorGetDomain(_:)`.
public func CFErrorGetDomain(_ error: CFError!) -> CFErrorDomain! { error.domain as NSString }

/// Returns the dictionary with further information about an error.
///
/// - Parameter error: the error; must not be nil.
/// - Returns: the error's `userInfo`, empty when it has none.
///
/// Apple: `CFErrorCopyUserInfo(_:)`.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! { error.userInfo as NSDictionary }

/// Returns a description of an error for the user.
///
/// - Parameter error: the error; must not be nil.
/// - Returns: the error's `localizedDescription`; for errors of this module it says what happened and what to do.
///
/// Apple: `CFErrorCopyDescription(_:)`.
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! { error.localizedDescription as NSString }

/// Creates an error from a domain, a code and further information.
///
/// - Parameters:
///   - allocator: ignored; pass nil.
///   - domain: the error's domain; must not be nil.
///   - code: the error's code.
///   - userInfo: further information by `String` keys such as `NSLocalizedDescriptionKey`; nil for none.
/// - Returns: the error, never nil.
///
/// Apple: `CFErrorCreate(_:_:_:_:)`.
public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// Returns the number of bytes in a data object.
///
/// - Parameter data: the data; must not be nil.
/// - Returns: the length in bytes.
///
/// Apple: `CFDataGetLength(_:)`.
public func CFDataGetLength(_ data: CFData!) -> CFIndex { data.length }

/// Returns a pointer to the bytes of a data object.
///
/// - Parameter data: the data; must not be nil.
/// - Returns: a pointer to `CFDataGetLength(_:)` bytes, valid as long as the data exists and is not changed.
///
/// Apple: `CFDataGetBytePtr(_:)`.
public func CFDataGetBytePtr(_ data: CFData!) -> UnsafePointer<UInt8>! {
    data.bytes.assumingMemoryBound(to: UInt8.self)
}

/// Creates a data object over existing bytes, without copying them.
///
/// - Parameters:
///   - allocator: ignored; pass nil.
///   - bytes: the bytes; they must stay valid and unchanged as long as the data exists.
///   - length: the number of bytes, not negative.
///   - bytesDeallocator: `kCFAllocatorNull` leaves the bytes to the caller; any other value frees them with `free(3)`
///     when the data is deallocated.
/// - Returns: the data; nil when `bytes` is nil or `length` is negative.
///
/// Apple: `CFDataCreateWithBytesNoCopy(_:_:_:_:)`.
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard let bytes, length >= 0 else { return nil }
    return NSData(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

/// Returns the number of elements in an array.
///
/// - Parameter array: the array; must not be nil.
/// - Returns: the number of elements.
///
/// Apple: `CFArrayGetCount(_:)`.
public func CFArrayGetCount(_ array: CFArray!) -> CFIndex { array.count }
