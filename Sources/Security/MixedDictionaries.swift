// SPDX-License-Identifier: Apache-2.0

public import Foundation

// On Linux AnyHashable(NSString) differs from AnyHashable(String), and the same holds for numbers, so that a look-up in
// a dictionary with mixed keys fails silently. Apple's Foundation makes them equal; these two conformances do so here.
// They hold for the whole process; docs/compatibility.md names them.

// swift-format-ignore: AvoidRetroactiveConformances
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// Makes a string object equal to the string, as on Apple systems.
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension NSNumber: @retroactive _HasCustomAnyHashableRepresentation {
    /// Makes a number object equal to the value it was made from, as on Apple systems.
    public func _toCustomAnyHashable() -> AnyHashable? {
        if isBoolean(self) { return AnyHashable(boolValue) }
        switch objCType.pointee {
        case 0x64, 0x66: return AnyHashable(doubleValue)  // "d", "f"
        case 0x51: return AnyHashable(uint64Value)  // "Q"
        default: return AnyHashable(int64Value)
        }
    }
}
