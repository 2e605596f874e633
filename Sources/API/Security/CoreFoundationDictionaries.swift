// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Callbacks for the keys of a dictionary; without effect, since every dictionary retains its keys as objects.
/// Apple: `CFDictionaryKeyCallBacks`.
public struct CFDictionaryKeyCallBacks: Sendable {}
/// Callbacks for the values of a dictionary; without effect, since every dictionary retains its values as objects.
/// Apple: `CFDictionaryValueCallBacks`.
public struct CFDictionaryValueCallBacks: Sendable {}

/// Callbacks for keys that are objects; `CFDictionaryCreateMutable` ignores them.
/// Apple: `kCFTypeDictionaryKeyCallBacks`.
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// Callbacks for values that are objects; `CFDictionaryCreateMutable` ignores them.
/// Apple: `kCFTypeDictionaryValueCallBacks`.
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// Creates an empty mutable dictionary that retains its keys and values.
///
/// - Parameters:
///   - allocator: ignored; pass nil.
///   - capacity: ignored; the dictionary grows as needed.
///   - keyCallBacks: ignored; keys are always treated as objects.
///   - valueCallBacks: ignored; values are always treated as objects.
/// - Returns: the dictionary, never nil.
///
/// Apple: `CFDictionaryCreateMutable(_:_:_:_:)`.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary()
}

/// Sets the value of a key, replacing the present one.
///
/// - Parameters:
///   - dictionary: the dictionary to change.
///   - key: an unretained pointer to an `NSObject`, such as `Unmanaged.passUnretained(_:).toOpaque()` gives; a key of
///     another type is ignored. Must not be nil.
///   - value: an unretained pointer to an object, which the dictionary retains. Must not be nil.
///
/// Apple: `CFDictionarySetValue(_:_:_:)`.
public func CFDictionarySetValue(
    _ dictionary: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    let (key, value) = (object(key), object(value))
    if let key = key as? NSObject { dictionary.setObject(value, forKey: key) }
}

/// Sets the value of a key only if the key has no value.
///
/// - Parameters:
///   - dictionary: the dictionary to change.
///   - key: an unretained pointer to an `NSObject`; a key of another type is ignored. Must not be nil.
///   - value: an unretained pointer to an object, which the dictionary retains. Must not be nil.
///
/// Apple: `CFDictionaryAddValue(_:_:_:)`.
public func CFDictionaryAddValue(
    _ dictionary: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    if dictionary.object(forKey: object(key)) == nil { CFDictionarySetValue(dictionary, key, value) }
}

private func object(_ pointer: UnsafeRawPointer) -> AnyObject {
    Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
}
