// SPDX-License-Identifier: Apache-2.0

// The SDK imports this module into every file. A re-exported module would count there as imported first, without the
// attributes of the file's own imports: `@preconcurrency import Glibc` would lose its effect on `stdout`.
#if LATCHKEY_SDK
public import Foundation
#else
@_exported public import Foundation
#endif

// Core Foundation types are aliases of Foundation classes, so that `as` bridges them as on Apple systems; the reasons
// are in docs/design/decisions/001-cf-types-as-classes.md.

/// Foundation's `NSString` under the name of Core Foundation's string type. Apple: `CFString`.
public typealias CFString = NSString
/// Foundation's `NSDictionary` under the name of Core Foundation's dictionary type. Apple: `CFDictionary`.
public typealias CFDictionary = NSDictionary
/// Foundation's `NSMutableDictionary` under the name of Core Foundation's mutable dictionary type.
/// Apple: `CFMutableDictionary`.
public typealias CFMutableDictionary = NSMutableDictionary
/// Foundation's `NSNull` under the name of Core Foundation's null type. Apple: `CFNull`.
public typealias CFNull = NSNull
/// Domain of an error: a string such as `NSOSStatusErrorDomain`. Apple: `CFErrorDomain`.
public typealias CFErrorDomain = CFString
/// Length of time in seconds, as a `Double`. Apple: `CFTimeInterval`.
public typealias CFTimeInterval = Double
/// Foundation's `NSData` under the name of Core Foundation's data type. Apple: `CFData`.
public typealias CFData = NSData
/// Foundation's `NSArray` under the name of Core Foundation's array type. Apple: `CFArray`.
public typealias CFArray = NSArray
/// Foundation's `NSDate` under the name of Core Foundation's date type. Apple: `CFDate`.
public typealias CFDate = NSDate
/// Foundation's `NSNumber` under the name of Core Foundation's number type. Apple: `CFNumber`.
public typealias CFNumber = NSNumber
/// Foundation's `NSNumber` under the name of Core Foundation's Boolean type. Apple: `CFBoolean`.
public typealias CFBoolean = NSNumber
/// Foundation's `NSError` under the name of Core Foundation's error type. Apple: `CFError`.
public typealias CFError = NSError
/// Foundation's `NSSet` under the name of Core Foundation's set type. Apple: `CFSet`.
public typealias CFSet = NSSet
/// Foundation's `NSURL` under the name of Core Foundation's URL type. Apple: `CFURL`.
public typealias CFURL = NSURL
/// Reference to an object of any Core Foundation type. Apple: `CFTypeRef`.
public typealias CFTypeRef = AnyObject
/// Memory allocator; every function here ignores it except `CFDataCreateWithBytesNoCopy`. Apple: `CFAllocator`.
public typealias CFAllocator = NSObject
/// Signed integer for counts and indexes of Core Foundation. Apple: `CFIndex`.
public typealias CFIndex = Int
/// Unsigned integer for sets of flags. Apple: `CFOptionFlags`.
public typealias CFOptionFlags = UInt
/// Number that identifies a Core Foundation type, returned by `CFGetTypeID`. Apple: `CFTypeID`.
public typealias CFTypeID = UInt
/// Result code of a function; `errSecSuccess` (0) means success. Apple: `OSStatus`.
public typealias OSStatus = Int32
/// Code of four ASCII characters, as a 32-bit number. Apple: `FourCharCode`.
public typealias FourCharCode = UInt32
/// Type code of four ASCII characters, as a 32-bit number. Apple: `OSType`.
public typealias OSType = FourCharCode
/// Signed integer of the platform's word size, as in Objective-C. Apple: `NSInteger`.
public typealias NSInteger = Int
/// Optional pointer to the place where an Objective-C style method stores its error. Apple: `NSErrorPointer`.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
/// Plain mutable pointer: Foundation on Linux has no autoreleasing. Apple: `AutoreleasingUnsafeMutablePointer`.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// Result code of a successful call, 0; the same value as `errSecSuccess`. Apple: `noErr`.
public let noErr: OSStatus = 0

// The objects below are immutable and therefore safe to read from any thread, also in Swift 6 mode.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean value true as an object. Apple: `kCFBooleanTrue`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The Boolean value false as an object. Apple: `kCFBooleanFalse`.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The default allocator, nil as on Apple systems. Apple: `kCFAllocatorDefault`.
nonisolated(unsafe) public let kCFAllocatorDefault: CFAllocator! = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Allocator that does not free memory; for `CFDataCreateWithBytesNoCopy`. Apple: `kCFAllocatorNull`.
nonisolated(unsafe) public let kCFAllocatorNull: CFAllocator! = NSObject()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The null object, as an element of arrays and dictionaries. Apple: `kCFNull`.
public let kCFNull: CFNull! = NSNull()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Key of the app's identifier in its `Info.plist`: `CFBundleIdentifier`. Apple: `kCFBundleIdentifierKey`.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier" as NSString
