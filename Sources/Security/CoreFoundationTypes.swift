// SPDX-License-Identifier: Apache-2.0

// The SDK imports this module into every file. What it re-exported would count there as imported first, without the
// attributes of the file's own imports: `@preconcurrency import Glibc` would lose its effect on `stdout`.
#if LATCHKEY_SDK
public import Foundation
#else
@_exported public import Foundation
#endif

// Core Foundation types stand for Foundation classes, so that `as` bridges them as on Apple systems; the reasons are
// in docs/decisions/001-cf-types-as-classes.md.

/// Stands for `CFString`.
public typealias CFString = NSString
/// Stands for `CFDictionary`.
public typealias CFDictionary = NSDictionary
/// Stands for `CFMutableDictionary`.
public typealias CFMutableDictionary = NSMutableDictionary
/// Stands for `CFNull`.
public typealias CFNull = NSNull
/// Stands for `CFErrorDomain`.
public typealias CFErrorDomain = CFString
/// Stands for `CFTimeInterval`: seconds.
public typealias CFTimeInterval = Double
/// Stands for `CFData`.
public typealias CFData = NSData
/// Stands for `CFArray`.
public typealias CFArray = NSArray
/// Stands for `CFDate`.
public typealias CFDate = NSDate
/// Stands for `CFNumber`.
public typealias CFNumber = NSNumber
/// Stands for `CFBoolean`.
public typealias CFBoolean = NSNumber
/// Stands for `CFError`.
public typealias CFError = NSError
/// Stands for `CFSet`.
public typealias CFSet = NSSet
/// Stands for `CFURL`.
public typealias CFURL = NSURL
/// Stands for `CFTypeRef`: any object.
public typealias CFTypeRef = AnyObject
/// Stands for `CFAllocator`; only `kCFAllocatorDefault`, `kCFAllocatorNull` and nil are of any use.
public typealias CFAllocator = NSObject
/// Stands for `CFIndex`.
public typealias CFIndex = Int
/// Stands for `CFOptionFlags`.
public typealias CFOptionFlags = UInt
/// Stands for `CFTypeID`.
public typealias CFTypeID = UInt
/// Stands for `OSStatus` of MacTypes.
public typealias OSStatus = Int32
/// Stands for `FourCharCode` of MacTypes.
public typealias FourCharCode = UInt32
/// Stands for `OSType` of MacTypes.
public typealias OSType = FourCharCode
/// Stands for `NSInteger`.
public typealias NSInteger = Int
/// Stands for the error parameter of Objective-C methods.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
/// Stands for the pointer type of the same name; corelibs Foundation has no autoreleasing.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// Success of calls that give an `OSStatus`: 0.
public let noErr: OSStatus = 0

// The immutable objects below are shared between threads; client code in Swift 6 mode reads them like constants.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The true value. Stands for `kCFBooleanTrue`.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The false value. Stands for `kCFBooleanFalse`.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The default allocator: nil. Stands for `kCFAllocatorDefault`.
nonisolated(unsafe) public let kCFAllocatorDefault: CFAllocator! = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The allocator that frees nothing. Stands for `kCFAllocatorNull`.
nonisolated(unsafe) public let kCFAllocatorNull: CFAllocator! = NSObject()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The object that stands for nothing. Stands for `kCFNull`.
public let kCFNull: CFNull! = NSNull()
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The key of an app's identifier in its `Info.plist`. Stands for `kCFBundleIdentifierKey`.
nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier" as NSString
