// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Stands for `CFDictionaryKeyCallBacks`. Dictionaries here hold objects only, and retain them.
public struct CFDictionaryKeyCallBacks: Sendable {}
/// Stands for `CFDictionaryValueCallBacks`. Dictionaries here hold objects only, and retain them.
public struct CFDictionaryValueCallBacks: Sendable {}

/// Callbacks for keys that are objects. Stands for `kCFTypeDictionaryKeyCallBacks`.
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// Callbacks for values that are objects. Stands for `kCFTypeDictionaryValueCallBacks`.
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// Makes an empty dictionary for objects. Stands for `CFDictionaryCreateMutable`; the parameters say nothing here.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary()
}

/// Adds or replaces a value. Stands for `CFDictionarySetValue`; key and value are objects.
public func CFDictionarySetValue(
    _ dictionary: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    let (key, value) = (object(key), object(value))
    if let key = key as? NSObject { dictionary.setObject(value, forKey: key) }
}

/// Adds a value unless the key has one. Stands for `CFDictionaryAddValue`; key and value are objects.
public func CFDictionaryAddValue(
    _ dictionary: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    if dictionary.object(forKey: object(key)) == nil { CFDictionarySetValue(dictionary, key, value) }
}

private func object(_ pointer: UnsafeRawPointer) -> AnyObject {
    Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
}
