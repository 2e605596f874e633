// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire

/// The keys that wrap the row key of an item, beside the class key and the application password that its access control
/// requires (decision 042).
///
/// A check in code protects nothing on a copied disk, so an access control that demands biometry or the passcode is
/// enforced by keys as well. Each case names one way to wrap the row key. Numbers name the generation of an enrolment
/// set, bytes the key pair of a passcode.
///
/// A wrapping says which keys open the item, not whether a caller may read it: the access control says that.
enum RowKeyWrapping: Equatable, Sendable {
    /// No other key.
    case root
    /// The key of an enrolment set.
    case set(UInt64)
    /// The key pair of a passcode, which every way to open the item contains.
    case passcode([UInt8])
    /// Both together.
    case setAndPasscode(UInt64, [UInt8])
    /// Either: the row key is wrapped twice. When the enrolment set changes, the copy for the passcode remains.
    case setOrPasscode(UInt64, [UInt8])
    /// No other key: the set was replaced, and then the passcode was removed. Only the next passcode opens the item.
    case nextPasscode(after: UInt64)

    /// Creates the wrapping of an item that is sealed now.
    ///
    /// - Parameters:
    ///   - generation: that of the enrolment set to which the item is bound; nil if it is bound to none.
    ///   - passcode: the key pair for which it is sealed; nil if it is sealed for none.
    init(_ control: AccessControl, _ generation: UInt64?, _ passcode: [UInt8]?) {
        self =
            switch (generation, passcode) {
            case (nil, nil): .root
            case (let generation?, nil): .set(generation)
            case (nil, let passcode?): .passcode(passcode)
            case (let generation?, let passcode?):
                control.needsPasscode ? .setAndPasscode(generation, passcode) : .setOrPasscode(generation, passcode)
            }
    }

    /// The generation of the enrolment set to which the item is bound; nil if it is bound to none.
    var generation: UInt64? {
        switch self {
        case .root, .passcode: nil
        case .set(let generation), .setAndPasscode(let generation, _), .setOrPasscode(let generation, _),
            .nextPasscode(let generation):
            generation
        }
    }

    /// The key pair for which the row key is wrapped; nil if it is wrapped for none.
    var passcode: [UInt8]? {
        switch self {
        case .root, .set, .nextPasscode: nil
        case .passcode(let passcode), .setAndPasscode(_, let passcode), .setOrPasscode(_, let passcode): passcode
        }
    }

    /// Whether the key pair of the passcode and the key of the enrolment set are needed together.
    var needsBoth: Bool { if case .setAndPasscode = self { true } else { false } }

    /// Whether the passcode opens the item after its enrolment set was replaced.
    var outlivesSet: Bool {
        switch self {
        case .root, .set, .passcode, .setAndPasscode: false
        case .setOrPasscode, .nextPasscode: true
        }
    }

    /// Whether the item is bound to another enrolment set than that of a generation.
    func isStale(in generation: UInt64) -> Bool {
        switch self {
        case .root, .passcode: false
        case .set(let bound), .setAndPasscode(let bound, _), .setOrPasscode(let bound, _): bound != generation
        case .nextPasscode: true
        }
    }

    /// Whether items with that access control can have this wrapping.
    func isValid(for control: AccessControl) -> Bool {
        guard (generation != nil) == control.constraints.contains(.biometryCurrentSet) else { return false }
        return switch self {
        case .root, .set: true
        case .passcode, .setAndPasscode: control.needsPasscode && control.isSealedForPasscode(isInToken: false)
        case .setOrPasscode, .nextPasscode:
            !control.needsPasscode && control.isSealedForPasscode(isInToken: false)
        }
    }
}

// MARK: - Format

extension RowKeyWrapping {
    /// Canonical CBOR: `{0: kind, ?1: generation, ?2: key pair}`, where the kinds from 1 are the cases after `root`.
    func write(to writer: inout CBORWriter) {
        let kind: UInt64 =
            switch self {
            case .root: 0
            case .set: 1
            case .passcode: 2
            case .setAndPasscode: 3
            case .setOrPasscode: 4
            case .nextPasscode: 5
            }
        writer.map(1 + (generation == nil ? 0 : 1) + (passcode == nil ? 0 : 1))
        writer.unsigned(0)
        writer.unsigned(kind)
        if let generation {
            writer.unsigned(1)
            writer.unsigned(generation)
        }
        if let passcode {
            writer.unsigned(2)
            writer.bytes(passcode)
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var (kind, generation, passcode): (UInt64?, UInt64?, [UInt8]?) = (nil, nil, nil)
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: kind = try reader.unsigned()
            case 1: generation = try reader.unsigned()
            case 2: passcode = try reader.bytes(limit: PasscodePublicKey.identifierBytes)
            default: return false
            }
            return true
        }
        guard passcode == nil || passcode?.count == PasscodePublicKey.identifierBytes else { throw .invalidValue }
        switch (kind, generation, passcode) {
        case (1?, let generation?, nil): self = .set(generation)
        case (2?, nil, let passcode?): self = .passcode(passcode)
        case (3?, let generation?, let passcode?): self = .setAndPasscode(generation, passcode)
        case (4?, let generation?, let passcode?): self = .setOrPasscode(generation, passcode)
        case (5?, let generation?, nil): self = .nextPasscode(after: generation)
        default: throw .invalidValue
        }
    }
}

// MARK: - Items

extension AccessControl {
    /// Whether items with this access control are sealed for the key pair of the passcode, once one is set.
    ///
    /// - Parameter isInToken: whether the secret is a private key of the enclave, of which the ways to use it end with
    ///   the enrolment set as a whole (behaviour SE-05).
    func isSealedForPasscode(isInToken: Bool) -> Bool {
        guard needsPasscode else {
            let acceptsPasscode = plan.stages.contains { $0.contains(.passcode) }
            return !isInToken && acceptsPasscode && constraints.contains(.biometryCurrentSet)
        }
        // Such a key is sealed under the application password already, and the class under `U_pass`.
        if isInToken, constraints.contains(.applicationPassword) { return false }
        return accessibility != .whenPasscodeSetThisDeviceOnly
    }
}

extension Keychain {
    /// Returns the wrapping of an item that is sealed now.
    ///
    /// - Parameter generation: that of the enrolment set to which it is bound.
    func wrapping(_ control: AccessControl, _ generation: UInt64?, isInToken: Bool = false) -> RowKeyWrapping {
        let isSealed = control.isSealedForPasscode(isInToken: isInToken)
        return RowKeyWrapping(control, generation, isSealed ? anchor.passcodeKey?.identifier : nil)
    }

    /// Whether an item is invalidated: it can never be read again, because it is bound to an earlier enrolment
    /// generation, and the passcode does not open it.
    func isDead(_ item: Item) -> Bool {
        guard isStale(item) else { return false }
        return switch item.wrapping {
        case .root, .passcode, .nextPasscode: false
        case .set, .setAndPasscode: true
        // A copy for a passcode that was removed: sealing the item again needed its application password.
        case .setOrPasscode(_, let passcode):
            item.asksForAppPassword && passcode != anchor.passcodeKey?.identifier
        }
    }

    /// Whether the item is bound to an earlier enrolment generation.
    func isStale(_ item: Item) -> Bool { item.wrapping.isStale(in: anchor.enrolmentGeneration) }

    /// Whether only the passcode opens the secret for an attacker who has the files. These contain the key of the current
    /// enrolment set, but not that of an earlier one.
    func needsPasscodeKey(_ item: Item) -> Bool {
        if item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly { return true }
        return switch item.wrapping {
        case .root, .set, .nextPasscode: false
        case .passcode, .setAndPasscode: true
        case .setOrPasscode: isStale(item)
        }
    }

    /// The authentication that opening the item requires, and whether a key of the passcode is needed that is not in memory.
    ///
    /// - Parameter opens: whether the secret is opened.
    func plan(of item: Item, opens: Bool) -> (plan: AuthenticationPlan, needsPasscodeKey: Bool) {
        // A match opened it too, until the enrolment set changed.
        let isOnlyPasscode = isStale(item) && item.wrapping.outlivesSet
        var plan = item.accessControl.isProtected ? item.accessControl.plan : AuthenticationPlan([])
        if isOnlyPasscode { plan = AuthenticationPlan([[.passcode]]) }
        return (plan, opens && needsPasscodeKey(item) && !tree.holdsPasscodeKey)
    }
}
