// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

// Replacing a passcode with the recovery code: the user has proven more than the passcode, since the code opens the root
// key as well.

extension Keychain {
    /// Replaces the passcode but not `U_pass`. If database and anchor do not match, or the counter of the device is gone,
    /// they are accepted as they are in the same event, as `acceptStore` does.
    ///
    /// - Parameter slotKeys: keys of which one opens the present slot.
    /// - Returns: why the store was refused before; nil if it was not.
    package func recoverPasscode(
        to passcode: NewPasscodeKey, with slotKeys: [SecretBytes], caller: Caller
    ) throws(Failure) -> Failure? {
        try anchor.finish()
        let refusal = anchor.condition.refusal
        // Without an anchor there is no slot that could be opened.
        if anchor.condition == .anchorMissing, let refusal { throw refusal }
        let (lockCount, passcodeID) = (tree.lockCount, passcode.passcodeID)
        guard isPasscodeSet else {
            try setPasscode(passcode, caller: caller)
            return nil
        }
        guard let key = try openSlot(with: slotKeys, passcodeID) else {
            throw Failure(
                .itemAuthenticationFailed, "The recovery code does not open what the passcode protects.",
                hint: "Enter the code that was shown last. Without it, discard what the passcode protects with: "
                    + "latchkey reset")
        }
        try checkPair(key)
        let slot = try PasscodeSlot.make(key, behind: passcode, tree)
        if let refusal {
            try replace(slot, accepting: refusal, caller)
        } else {
            try carryOut(.passcodeChanged, .passcodeChanged, caller: caller) { (contents) throws(Failure) in
                contents.slot = slot
            }
        }
        tree.hold(key, since: lockCount)
        return refusal
    }

    private func openSlot(with slotKeys: [SecretBytes], _ passcodeID: [UInt8]) throws(Failure) -> SymmetricKey? {
        for slot in anchor.slots {
            for slotKey in slotKeys {
                if let key = try PasscodeSlot.open(slot, .slotKey(slotKey, passcodeID: passcodeID), tree) { return key }
            }
        }
        return nil
    }

    private func replace(_ slot: [UInt8], accepting refusal: Failure, _ caller: Caller) throws(Failure) {
        let key = try tree.random.bytes(32)
        try carryOut(.accepted, .rollbackAccepted, caller: caller) { (contents) throws(Failure) in
            try contents.beginGeneration(key)
            contents.slot = slot
        } commit: { (store) throws(Failure) in
            try rebaseSum(in: store)
        }
    }

    /// The private keys of the enclave, by name.
    package func enclaveKeys(_ reason: SkipReason) throws(Failure) -> SkippedItems {
        try enclaveKeys(reason, columns: .withoutSecret) { (_, _) throws(Failure) in true }
    }

    /// The private keys of the enclave that only an earlier passcode released, by name.
    ///
    /// A key that cannot be opened without the password of its app, or while the keychain is locked, is listed if its access
    /// control has no way without the passcode: its module demands the passcode unless the key was made before one was set.
    ///
    /// - Parameter needsPasscode: whether the module of a key demands the passcode for each use; gets its blob.
    package func keysOfEarlierPasscode(
        _ needsPasscode: (SecretBytes) throws(Failure) -> Bool
    ) throws(Failure) -> SkippedItems {
        try enclaveKeys(.earlierPasscode, columns: .all) { (row, item) throws(Failure) in
            // The secret of an item of replaced fingers does not open, which does not mean that it is damaged.
            guard item.accessControl.needsPasscode, !isDead(item) else { return false }
            // A new passcode does not change `U_pass`, so keys that are sealed for its pair still open.
            guard item.wrapping.passcode == nil else { return false }
            guard !item.asksForAppPassword, try tree.classKey(item.accessControl.accessibility) != nil else {
                return true
            }
            let blob = try undamaged(row) { () throws(Failure) in try envelopes.openSecret(row, item) } ?? nil
            return try blob.map { (blob) throws(Failure) in try needsPasscode(blob) } ?? false
        }
    }

    private func enclaveKeys(
        _ reason: SkipReason, columns: RowColumns, where isListed: (StoredRow, Item) throws(Failure) -> Bool
    ) throws(Failure) -> SkippedItems {
        var keys = SkippedItems()
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all, columns: columns) { (row) throws(Failure) in
                let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
                guard let item, item.isInToken, try isListed(row, item) else { return true }
                keys.add(SkippedItem(row.itemClass, item.attributes, reason))
                return true
            }
        }
        return keys
    }
}

extension NewPasscodeKey {
    /// The identifier of the passcode's secret; empty in tiers in which the daemon stretches passcodes.
    fileprivate var passcodeID: [UInt8] {
        switch self {
        case .stretched: []
        case .slotKey(_, let passcodeID): passcodeID
        }
    }
}
