// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

// Sealing rows again when a passcode is set or removed, with one secret in memory at a time and an audit entry for each.

extension Keychain {
    /// Rows that are read, and rows that are sealed, before other requests are served.
    private static let readRows = 500
    private static let sealedRows = 32

    /// Seals the next rows for the passcode that were added before it was set, in a transaction of their own.
    ///
    /// Needs no passcode. Rows that need an application password or whose class is locked are left as they are.
    ///
    /// - Parameters:
    ///   - position: after which row to begin; `Int64.min` for the first one.
    ///   - demandsPasscode: whether the module of a private key demands the passcode itself; gets its blob.
    /// - Returns: the position after which to go on; nil after the last row.
    package func sealForPasscode(
        after position: Int64, demandsPasscode: (SecretBytes) throws(Failure) -> Bool
    ) throws(Failure) -> Int64? {
        guard let publicKey = anchor.passcodeKey, anchor.condition == .clean else { return nil }
        defer { reportDamage() }
        var names: [RowName] = []
        var (count, last, isFull) = (0, position, false)
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all, behind: position, columns: .withoutSecret) { (row) throws(Failure) in
                isFull = count == Self.readRows || names.count == Self.sealedRows
                guard !isFull else { return false }
                (count, last) = (count + 1, row.position)
                let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
                if let item, row.hasSecret, isDue(item, publicKey) { names.append(RowName(row)) }
                return true
            }
        }
        if !names.isEmpty {
            try write { (store) throws(Failure) in
                for name in names {
                    try seal(name, caller: nil, in: store) { (item, secret) throws(Failure) in
                        guard isDue(item, publicKey), anchor.passcodeKey == publicKey else { return false }
                        if item.isInToken { guard try !demandsPasscode(secret) else { return false } }
                        item.passcodeKeyID = publicKey.identifier
                        return true
                    }
                }
            }
        }
        return isFull ? last : nil
    }

    /// Whether the item should be sealed for the passcode's key pair and is not.
    private func isDue(_ item: Item, _ publicKey: PasscodePublicKey) -> Bool {
        let isDue = item.passcodeKeyID == nil || item.passcodeKeyID == Item.openToNextPasscode
        return isDue && passcodeKeyID(item.accessControl, isInToken: item.isInToken) == publicKey.identifier
            && !isDead(item) && !item.asksForAppPassword && tree.isAvailable(item.accessControl.accessibility)
    }

    /// Whether an item is deleted with the passcode. One of an application password that was added before the passcode was
    /// set is not sealed for it, and remains.
    func isLostWithPasscode(_ item: Item) -> Bool {
        item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly
            || (item.isSealedForPair && item.accessControl.isLostWithPasscode(isInToken: item.isInToken))
    }

    /// Seals every row without the passcode's key pair, which must be in memory.
    func sealWithoutPasscode(caller: Caller, in store: any ItemWriting) throws(Failure) {
        guard let identifier = anchor.passcodeKey?.identifier else { return }
        var names: [RowName] = []
        try store.forEachRow(.all, columns: .withoutSecret) { (row) throws(Failure) in
            let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
            if let item, row.hasSecret, item.passcodeKeyID == identifier, !item.asksForAppPassword, !isDead(item) {
                names.append(RowName(row))
            }
            return true
        }
        for name in names {
            try seal(name, caller: caller, in: store) { (item, _) throws(Failure) in
                // The key of a replaced set is gone, so neither is left to seal the secret under.
                item.passcodeKeyID = isStale(item) ? Item.openToNextPasscode : nil
                return true
            }
        }
    }

    /// Seals a row again.
    ///
    /// - Parameter change: changes how the item is sealed; returns whether to seal it. Gets its secret.
    private func seal(
        _ name: RowName, caller: Caller?, in store: any ItemWriting,
        _ change: (inout Item, SecretBytes) throws(Failure) -> Bool
    ) throws(Failure) {
        guard let row = try whole(name, in: store) else { return }
        let opened = try undamaged(row) { () throws(Failure) in
            let item = try envelopes.openAttributes(row)
            return (item, try envelopes.openSecret(row, item))
        }
        guard case (var item, let secret?)? = opened, try change(&item, secret) else { return }
        var next = row
        next.version &+= 1
        try envelopes.begin(&next)
        next.secret = try envelopes.sealSecret(secret, item, next)
        next.attributes = try envelopes.sealAttributes(item, next)
        try replaceRow(row, by: next, store)
        try audit.append(.updated, item: row.id, caller: caller, to: store)
    }
}
