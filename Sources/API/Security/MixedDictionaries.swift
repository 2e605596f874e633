// SPDX-License-Identifier: Apache-2.0

public import Foundation

// On Linux AnyHashable(NSString) differs from AnyHashable(String), and numbers differ likewise, so a look-up in a
// dictionary with keys of both types fails silently. Apple's Foundation makes them equal, and so do the two
// conformances below. They apply to the whole process and are listed in docs/reference/compatibility.md.

// swift-format-ignore: AvoidRetroactiveConformances
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// Returns the `String` of equal value, so that both are equal as dictionary keys, as on Apple systems.
    ///
    /// Swift: `_HasCustomAnyHashableRepresentation._toCustomAnyHashable()`.
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension NSNumber: @retroactive _HasCustomAnyHashableRepresentation {
    /// Returns the Swift number or `Bool` of equal value, so that both are equal as dictionary keys, as on Apple
    /// systems.
    ///
    /// Swift: `_HasCustomAnyHashableRepresentation._toCustomAnyHashable()`.
    public func _toCustomAnyHashable() -> AnyHashable? {
        if isBoolean(self) { return AnyHashable(boolValue) }
        switch objCType.pointee {
        case 0x64, 0x66: return AnyHashable(doubleValue)  // "d", "f"
        case 0x51: return AnyHashable(uint64Value)  // "Q"
        default: return AnyHashable(int64Value)
        }
    }
}
