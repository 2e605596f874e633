// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// How the passcode takes part in sealing the secret of an item (decision 042).
enum PasscodeSealing: Sendable {
    /// Every way to open the item contains the passcode, so its row key is sealed for the passcode. The root key alone does
    /// not open it.
    case always
    /// A match of the current enrolment set or the passcode opens the item, so its row key is sealed twice. The second
    /// copy remains when the enrolment set changes.
    case beside
}

extension AccessControl {
    /// How items with this access control are sealed for the passcode; nil if they are not.
    ///
    /// The class of `WhenPasscodeSetThisDeviceOnly` is sealed under `U_pass` already, which is all that `always` adds.
    var passcodeSealing: PasscodeSealing? {
        if needsPasscode { return accessibility == .whenPasscodeSetThisDeviceOnly ? nil : .always }
        let acceptsPasscode = plan.stages.contains { $0.contains(.passcode) }
        return acceptsPasscode && constraints.contains(.biometryCurrentSet) ? .beside : nil
    }
}

extension Item {
    /// In place of the identifier of a key pair: the enrolment set was replaced, and then the passcode was removed, so the
    /// secret is sealed for neither. The next passcode opens it.
    static let openToNextPasscode = [UInt8](repeating: 0, count: PasscodePublicKey.identifierBytes)

    /// How the row of the item is sealed for the passcode; nil if it is not.
    var passcodeSealing: PasscodeSealing? { passcodeKeyID == nil ? nil : accessControl.passcodeSealing }

    /// Whether its secret is sealed for a key pair of the passcode.
    var isSealedForPair: Bool { passcodeKeyID != nil && passcodeKeyID != Self.openToNextPasscode }

    /// Whether the plain copy of the row key is sealed under the key of an enrolment set.
    var isSealedForSet: Bool { enrolment != nil && passcodeKeyID != Self.openToNextPasscode }
}

extension Keychain {
    /// Whether an item is invalidated: it can never be read again, because it is bound to an earlier enrolment
    /// generation, and the passcode does not open it.
    func isDead(_ item: Item) -> Bool {
        guard isStale(item) else { return false }
        // The copy for a passcode that was removed: sealing the item again needed its application password.
        let isForEarlierPasscode =
            item.asksForAppPassword && item.isSealedForPair && item.passcodeKeyID != anchor.passcodeKey?.identifier
        return item.passcodeSealing != .beside || isForEarlierPasscode
    }

    /// Whether the item is bound to an earlier enrolment generation.
    func isStale(_ item: Item) -> Bool {
        guard let bound = item.enrolment else { return false }
        return bound != anchor.enrolmentGeneration
    }

    /// The authentication that opening the item requires, and whether a key of the passcode is needed that is not in memory.
    ///
    /// - Parameter opens: whether the secret is opened.
    func plan(of item: Item, opens: Bool) -> (plan: AuthenticationPlan, needsPasscodeKey: Bool) {
        // A match opened it too, until the enrolment set changed.
        let isOnlyPasscode = isStale(item) && item.passcodeSealing == .beside
        var plan = item.accessControl.isProtected ? item.accessControl.plan : AuthenticationPlan([])
        if isOnlyPasscode { plan = AuthenticationPlan([[.passcode]]) }
        let isSealed =
            item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
            || (item.isSealedForPair && (isOnlyPasscode || item.passcodeSealing == .always))
        return (plan, opens && isSealed && !tree.holdsPasscodeKey)
    }

    /// The identifier of the passcode's key pair for an item that is sealed now; nil if it is not sealed for it.
    ///
    /// - Parameter isInToken: whether the secret is a private key of the enclave, of which the ways to use it end with
    ///   the enrolment set as a whole (behaviour SE-05).
    func passcodeKeyID(_ control: AccessControl, isInToken: Bool = false) -> [UInt8]? {
        switch control.passcodeSealing {
        // Such a key is sealed under the application password already.
        case .always where isInToken && control.constraints.contains(.applicationPassword): nil
        case .always: anchor.passcodeKey?.identifier
        case .beside: isInToken ? nil : anchor.passcodeKey?.identifier
        case nil: nil
        }
    }
}
