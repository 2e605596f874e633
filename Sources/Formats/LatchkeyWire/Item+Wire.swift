// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Bytes of the longest persistent reference.
let referenceBytes = 256

extension Request.AddItem: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            itemClass: try map.field(0, \.itemClass, .nativeClass),
            attributes: try map.field(1, \.attributes),
            accessControl: try map.field(2, \.accessControl),
            secret: try map.optional(3, \.secret, .secret()),
            returns: try map.field(4, \.returns),
            authentication: try map.field(5, \.authentication))
    }
}

extension Request.CopyItems: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            query: try map.field(0, \.query),
            limit: try map.field(1, \.limit),
            returns: try map.field(2, \.returns),
            authentication: try map.field(3, \.authentication))
    }
}

extension Request.UpdateItems: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            query: try map.field(0, \.query),
            changes: try map.field(1, \.changes),
            accessControl: try map.optional(2, \.accessControl),
            secret: try map.optional(3, \.secret, .secret()),
            authentication: try map.field(4, \.authentication))
    }
}

extension Request.DeleteListed: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(try map.field(0, \.reference, .bytes(limit: referenceBytes)))
    }
}

extension ItemQuery: WireMap {
    // Each field and each attribute of a query is a condition. Without one that this daemon does not know, a deletion by a
    // newer client would delete the items of the whole class.
    package static var refusesUnknownFields: Bool { true }

    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            itemClass: try map.optional(0, \.itemClass, .nativeClass),
            attributes: try map.field(1, \.attributes, .conditions),
            accessibility: try map.optional(2, \.accessibility),
            anySynchronizable: try map.field(3, \.anySynchronizable, omitting: false),
            persistentReference: try map.optional(4, \.persistentReference, .bytes(limit: referenceBytes)))
    }
}

extension Prompting: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            reason: try map.field(0, \.reason, .text(limit: Limits.titleBytes)),
            fallbackTitle: try map.optional(1, \.fallbackTitle, .text(limit: Limits.titleBytes)),
            cancelTitle: try map.optional(2, \.cancelTitle, .text(limit: Limits.titleBytes)),
            interactionAllowed: try map.field(3, \.interactionAllowed))
    }
}

extension Authentication: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            context: try map.optional(0, \.context),
            skipsProtected: try map.field(1, \.skipsProtected),
            prompting: try map.field(2, \.prompting),
            applicationPassword: try map.optional(3, \.applicationPassword, .secret(limit: Limits.passcodeBytes)),
            reuseSeconds: try map.field(4, \.reuseSeconds, omitting: 0))
    }
}

extension FoundItem: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            itemClass: try map.field(0, \.itemClass),
            attributes: try map.optional(1, \.attributes),
            accessControl: try map.optional(2, \.accessControl),
            secret: try map.optional(3, \.secret, .secret()),
            persistentReference: try map.optional(4, \.persistentReference, .bytes(limit: referenceBytes)),
            isLostWithPasscode: try map.field(5, \.isLostWithPasscode, omitting: false))
    }
}

/// A class of Apple's API. Items of the Secret Service have requests of their own, and no other request can name them.
struct NativeClassShape: WireShape {
    func write(_ value: ItemClass, to writer: inout CBORWriter) { value.write(to: &writer) }
    func read(from reader: inout CBORReader) throws(WireError) -> ItemClass {
        let value = try ItemClass(from: &reader)
        guard value != .secret else { throw .invalidValue }
        return value
    }
}

extension WireShape where Self == NativeClassShape {
    fileprivate static var nativeClass: NativeClassShape { NativeClassShape() }
}
