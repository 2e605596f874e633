// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeyWire

/// A change that restoring an older copy of the database must not undo. The raw values are part of the anchor's
/// format.
enum SecurityEvent: UInt8, CaseIterable, Sendable {
    case passcodeSet = 1
    case passcodeChanged = 2
    case passcodeRemoved = 3
    case enrollmentChanged = 4
    case lockedOut = 5
    case protectedDiscarded = 6
    case accepted = 7
    /// Changes nothing but the store generation, so that older copies of the database are refused.
    case anchored = 8

    /// Whether the event writes a new passcode slot, so that after an interruption the old or the new slot may be the
    /// right one.
    var changesSlot: Bool {
        switch self {
        case .passcodeSet, .passcodeChanged: true
        case .passcodeRemoved, .enrollmentChanged, .lockedOut, .protectedDiscarded, .accepted, .anchored: false
        }
    }
}

/// The contents of the file `anchor`: `docs/reference/store-format.md`, section "The anchor".
///
/// The database can be restored from an older copy without a trace. So whatever an attacker could gain by that is here
/// and not there: the passcode slot, the key of the enrolment set, and the newest store generation. `Contents` is the
/// part that a security event replaces, and `Preparation` is an event that has begun and is not finished.
///
/// The record is a value. `Anchor` writes it in steps, and `AnchorCondition` says what an interrupted one means.
struct AnchorRecord: Equatable, Sendable {
    /// The part that an event replaces.
    struct Contents: Equatable, Sendable {
        /// Slot of `U_pass`; nil when no passcode is set.
        var slot: [UInt8]?
        /// Incremented when the enrolment set changes or the items bound to it are invalidated; items of
        /// `biometryCurrentSet` are bound to its value.
        var enrolmentGeneration: UInt64
        /// The enrolment set; nil when nothing is enrolled.
        var set: EnrolmentSet?
        /// Combined into the key that wraps the row keys of items bound to that set.
        var enrolmentKey: EnrolmentKey
        /// The public half of the passcode's key pair; nil when no passcode is set.
        var passcodeKey: PasscodePublicKey?

        /// Begins an enrolment generation with another key; items that are bound to an earlier one are invalidated.
        mutating func beginGeneration(_ key: SecretBytes) throws(Failure) {
            let (next, isBeyond) = enrolmentGeneration.addingReportingOverflow(1)
            guard !isBeyond else { throw Failure.damagedStore("its anchor has no enrolment generation left") }
            (enrolmentGeneration, enrolmentKey) = (next, .clear(key))
        }
    }

    /// The key of an enrolment set, 32 random bytes, as the anchor has it.
    enum EnrolmentKey: Equatable, Sendable {
        /// In a vault of files, and in a new anchor.
        case clear(SecretBytes)
        /// Sealed by hardware, which opens it while the counter of the enrolment sets has that number.
        case sealed([UInt8], number: UInt64)
    }

    /// An event that is not finished.
    struct Preparation: Equatable, Sendable {
        var generation: UInt64
        var event: SecurityEvent
        var contents: Contents
    }

    /// The store generation of the last finished event.
    var committed: UInt64
    var contents: Contents
    /// The slot before an interrupted passcode change; dropped when a right passcode is entered.
    var otherSlot: [UInt8]?
    var preparation: Preparation?
    /// Boot identifier at the time when the store generation last moved.
    var bootID: [UInt8]
    /// Serial number of the counters at that time; counters with a smaller one are refused.
    var countersSerial: UInt64

    // MARK: - Encoding

    /// Encodes the file: `latchkey anchor 1`, newline, then the sealed fields.
    func encoded(_ key: SymmetricKey, _ header: StoreHeader, nonce: [UInt8]) throws(Failure) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(6)
        writer.unsigned(committed)
        Self.write(contents, to: &writer)
        writer.bytes(otherSlot ?? [])
        writer.array(preparation == nil ? 0 : 1)
        if let preparation {
            writer.array(3)
            writer.unsigned(preparation.generation)
            writer.unsigned(UInt64(preparation.event.rawValue))
            Self.write(preparation.contents, to: &writer)
        }
        writer.bytes(bootID)
        writer.unsigned(countersSerial)
        let sealed = try key.seal(writer.finish(), nonce: nonce, authenticating: Self.associatedData(header))
        return SecretBytes(FileMark.anchor.bytes + sealed)
    }

    /// Decodes the file; nil when it was not sealed with this key for this store.
    static func decode(
        _ bytes: SecretBytes, _ key: SymmetricKey, _ header: StoreHeader
    ) throws(Failure) -> AnchorRecord? {
        let mark = FileMark.anchor.bytes
        let file = bytes.copyBytes()
        guard file.starts(with: mark),
            let plain = try key.open(file[mark.count...], authenticating: associatedData(header))
        else { return nil }
        return plain.withBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                let record = try reader.tuple(6) { (reader) throws(WireError) in try read(&reader) }
                try reader.finish()
                return record
            } catch {
                return nil
            }
        }
    }

    private static func associatedData(_ header: StoreHeader) -> [UInt8] {
        CryptographicLabel.anchor.bytes + [0] + header.bytes
    }

    private static func write(_ contents: Contents, to writer: inout CBORWriter) {
        writer.array(contents.passcodeKey == nil ? 4 : 5)
        writer.bytes(contents.slot ?? [])
        writer.unsigned(contents.enrolmentGeneration)
        writer.bytes(contents.set?.bytes ?? [])
        switch contents.enrolmentKey {
        case .clear(let key): writer.bytes(key)
        case .sealed(let sealed, let number):
            writer.bytes(
                [Self.sealedVersion] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } + sealed)
        }
        if let passcodeKey = contents.passcodeKey { writer.bytes(passcodeKey.point) }
    }

    private static func readContents(_ reader: inout CBORReader) throws(WireError) -> Contents {
        var (slot, set): ([UInt8], [UInt8]) = ([], [])
        var generation: UInt64 = 0
        var enrolmentKey: EnrolmentKey?
        var passcodeKey: PasscodePublicKey?
        var field = 0
        try reader.array(limit: 5) { (reader) throws(WireError) in
            switch field {
            case 0: slot = try reader.bytes(limit: 256)
            case 1: generation = try reader.unsigned()
            case 2: set = try reader.bytes(limit: 64)
            case 3: enrolmentKey = try readKey(&reader)
            default:
                passcodeKey = PasscodePublicKey(try reader.bytes(limit: PasscodePublicKey.byteCount))
                guard passcodeKey != nil else { throw .invalidValue }
            }
            field += 1
        }
        // Without the public key, items would be added that are not sealed for the passcode.
        guard let enrolmentKey, slot.isEmpty == (passcodeKey == nil) else { throw .invalidValue }
        return Contents(
            slot: slot.isEmpty ? nil : slot, enrolmentGeneration: generation,
            set: set.isEmpty ? nil : EnrolmentSet(set),
            enrolmentKey: enrolmentKey, passcodeKey: passcodeKey)
    }

    /// The first byte of a sealed key, before its number.
    private static let sealedVersion: UInt8 = 1

    private static func readKey(_ reader: inout CBORReader) throws(WireError) -> EnrolmentKey {
        let key = try reader.secret(limit: 1024)
        if key.count == 32 { return .clear(key) }
        let bytes = key.copyBytes()
        guard bytes.count > 32, bytes[0] == sealedVersion else { throw .invalidValue }
        return .sealed(Array(bytes[9...]), number: bytes[1..<9].reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func read(_ reader: inout CBORReader) throws(WireError) -> AnchorRecord {
        let committed = try reader.unsigned()
        let contents = try readContents(&reader)
        let other = try reader.bytes(limit: 256)
        var preparation: Preparation?
        try reader.array(limit: 1) { (reader) throws(WireError) in
            preparation = try reader.tuple(3) { (reader) throws(WireError) in
                let generation = try reader.unsigned()
                guard let event = UInt8(exactly: try reader.unsigned()).flatMap(SecurityEvent.init(rawValue:)) else {
                    throw .invalidValue
                }
                return Preparation(generation: generation, event: event, contents: try readContents(&reader))
            }
        }
        return AnchorRecord(
            committed: committed, contents: contents, otherSlot: other.isEmpty ? nil : other, preparation: preparation,
            bootID: try reader.bytes(limit: 64), countersSerial: try reader.unsigned())
    }
}
