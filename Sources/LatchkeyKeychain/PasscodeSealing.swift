// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// How the passcode takes part in sealing the secret of an item (decision 042).
enum PasscodeSealing: Sendable {
    /// Every way to open the item contains the passcode, so its row key is sealed for the passcode. Who has the root key
    /// alone cannot open it.
    case always
    /// A match of the current enrolment set or the passcode opens the item, so its row key is sealed twice. The second
    /// one remains when the enrolment set changes.
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
    /// How the row of the item is sealed for the passcode; nil if it is not.
    var passcodeSealing: PasscodeSealing? { passcodeKeyID == nil ? nil : accessControl.passcodeSealing }
}

extension Keychain {
    /// Whether the item is bound to an earlier enrolment generation. Unless its row is sealed for the passcode too, it
    /// can never be read again.
    func isStale(_ item: Item) -> Bool {
        guard let bound = item.enrolment else { return false }
        return bound != anchor.enrolmentGeneration
    }

    /// Whether an item is invalidated: it can never be read again, because it is bound to an earlier enrolment
    /// generation, and the passcode does not open it.
    func isDead(_ item: Item) -> Bool { isStale(item) && !opensWithPasscodeOnly(item) }

    /// Whether the passcode is the only way that is left to an item which accepted a match, too.
    private func opensWithPasscodeOnly(_ item: Item) -> Bool {
        item.passcodeSealing == .beside && isStale(item) && item.passcodeKeyID == anchor.passcodeKey?.identifier
    }

    /// The authentication that opening the item requires, with the keys that are in memory.
    ///
    /// - Parameter opens: whether the secret is opened, which may need a key that only the passcode opens.
    func plan(of item: Item, opens: Bool) -> (plan: AuthenticationPlan, needsPasscodeKey: Bool) {
        let isOnlyPasscode = opensWithPasscodeOnly(item)
        var plan = item.accessControl.isProtected ? item.accessControl.plan : AuthenticationPlan([])
        if isOnlyPasscode { plan = AuthenticationPlan([[.passcode]]) }
        let isSealed =
            item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly || item.passcodeSealing == .always
            || isOnlyPasscode
        return (plan, opens && isSealed && !tree.holdsPasscodeKey)
    }

    /// The identifier of the passcode's key pair for an item that is sealed now; nil if it is not sealed for it.
    ///
    /// - Parameter isInToken: whether the secret is a private key of the enclave, of which the ways to use it change with
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

    /// Seals the rows again that a passcode which is set or removed changes, with one secret in memory at a time and an
    /// audit entry for each.
    ///
    /// A row that needs an application password is left as it is, and so is a private key of the enclave when a passcode is
    /// set: whether its module demands the passcode is not known here.
    ///
    /// - Parameter publicKey: the public half of the new passcode's key pair; nil if the passcode is removed, whose key pair
    ///   must be in memory then.
    func sealAgain(
        for publicKey: PasscodePublicKey?, caller: Caller, in store: any ItemWriting
    ) throws(Failure) {
        var names: [RowName] = []
        try store.forEachRow(.all, columns: .withoutSecret) { (row) throws(Failure) in
            let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
            if let item, row.hasSecret, changes(item, for: publicKey) { names.append(RowName(row)) }
            return true
        }
        for name in names {
            guard let row = try whole(name, in: store) else { continue }
            let opened = try undamaged(row) { () throws(Failure) in
                let item = try envelopes.openAttributes(row)
                return (item, try envelopes.openSecret(row, item))
            }
            guard case (var item, let secret?)? = opened else { continue }
            item.passcodeKeyID = publicKey?.identifier
            var next = row
            next.version &+= 1
            try envelopes.begin(&next)
            next.secret = try envelopes.sealSecret(secret, item, next, for: publicKey)
            next.attributes = try envelopes.sealAttributes(item, next)
            try replaceRow(row, by: next, store)
            try audit.append(.updated, item: row.id, caller: caller, to: store)
        }
    }

    private func changes(_ item: Item, for publicKey: PasscodePublicKey?) -> Bool {
        guard !item.asksForAppPassword, !isStale(item) else { return false }
        guard publicKey == nil else {
            return item.passcodeKeyID != publicKey?.identifier && item.accessControl.passcodeSealing != nil
                && !item.isInToken && tree.isAvailable(item.accessControl.accessibility)
        }
        return item.passcodeKeyID != nil && item.passcodeKeyID == anchor.passcodeKey?.identifier
    }
}
