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
    ///   - demandsPasscode: whether a private key is left as it is, because its module demands the passcode itself, or
    ///     cannot tell; gets its blob.
    /// - Returns: the position after which to go on; nil after the last row.
    package func sealForPasscode(
        after position: Int64, demandsPasscode: (SecretBytes) -> Bool
    ) throws(Failure) -> Int64? {
        guard let publicKey = anchor.passcodeKey, anchor.condition == .clean else { return nil }
        defer { reportDamage() }
        var names: [RowName] = []
        // The indexes of private keys in `names`.
        var keys: [Int] = []
        var (count, last, isFull) = (0, position, false)
        try store.read { (store) throws(Failure) in
            try store.forEachRow(.all, behind: position, columns: .withoutSecret) { (row) throws(Failure) in
                isFull = count == Self.readRows || names.count == Self.sealedRows
                guard !isFull else { return false }
                (count, last) = (count + 1, row.position)
                let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
                guard let item, row.hasSecret, isDue(item) else { return true }
                names.append(RowName(row))
                if item.isInToken { keys.append(names.count - 1) }
                return true
            }
            // Asked here, since a transaction that changes nothing would advance the store generation as well.
            for index in keys.reversed() {
                let blob = try unlessLocked { () throws(Failure) in try opened(names[index], in: store)?.secret }
                if blob.map(demandsPasscode) ?? true { names.remove(at: index) }
            }
        }
        if !names.isEmpty {
            try write { (store) throws(Failure) in
                for name in names {
                    _ = try unlessLocked { () throws(Failure) in
                        try seal(name, caller: nil, in: store) { item in
                            guard isDue(item), anchor.passcodeKey == publicKey else { return false }
                            item.wrapping = RowKeyWrapping(
                                item.accessControl, item.wrapping.generation, publicKey.identifier)
                            return true
                        }
                    }
                }
            }
        }
        return isFull ? last : nil
    }

    /// Nil where a lock has taken the key of the class meanwhile. Other rows may still be sealed.
    private func unlessLocked<Result>(_ body: () throws(Failure) -> Result?) throws(Failure) -> Result? {
        do throws(Failure) {
            return try body()
        } catch {
            guard error.status == .interactionNotAllowed else { throw error }
            return nil
        }
    }

    /// Whether the item should be sealed for the passcode's key pair and is not.
    private func isDue(_ item: Item) -> Bool {
        item.wrapping.passcode == nil && item.accessControl.isSealedForPasscode(isInToken: item.isInToken)
            && !isDead(item) && !item.asksForAppPassword && tree.isAvailable(item.accessControl.accessibility)
    }

    /// Whether an item is deleted with the passcode: only a key of the passcode opens it, and it cannot be sealed without
    /// that key, because the class demands it or an application password is a part of the seal.
    ///
    /// An item of an application password that was added before the passcode was set is not sealed for it, and remains.
    func isLostWithPasscode(_ item: Item) -> Bool {
        if item.accessControl.accessibility == .whenPasscodeSetThisDeviceOnly { return true }
        return item.asksForAppPassword && needsPasscodeKey(item)
    }

    /// Seals every row without the passcode's key pair, which must be in memory.
    func sealWithoutPasscode(caller: Caller, in store: any ItemWriting) throws(Failure) {
        guard let identifier = anchor.passcodeKey?.identifier else { return }
        var names: [RowName] = []
        try store.forEachRow(.all, columns: .withoutSecret) { (row) throws(Failure) in
            let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
            if let item, row.hasSecret, item.wrapping.passcode == identifier, !item.asksForAppPassword, !isDead(item) {
                names.append(RowName(row))
            }
            return true
        }
        for name in names {
            try seal(name, caller: caller, in: store) { item in
                let generation = item.wrapping.generation
                // The key of a replaced set is gone, so neither is left to seal the secret under.
                if let generation, isStale(item) {
                    item.wrapping = .nextPasscode(after: generation)
                } else {
                    item.wrapping = RowKeyWrapping(item.accessControl, generation, nil)
                }
                return true
            }
        }
    }

    /// Seals a row again. Nothing is written before its keys were used, so a lock in between leaves it as it is.
    ///
    /// - Parameter change: changes how the item is sealed; returns whether to seal it.
    private func seal(
        _ name: RowName, caller: Caller?, in store: any ItemWriting, _ change: (inout Item) -> Bool
    ) throws(Failure) {
        guard let (row, before, secret) = try opened(name, in: store) else { return }
        var item = before
        guard change(&item) else { return }
        var next = row
        next.version &+= 1
        try envelopes.begin(&next)
        next.secret = try envelopes.sealSecret(secret, item, next)
        next.attributes = try envelopes.sealAttributes(item, next)
        try replaceRow(row, by: next, store)
        try recordOldCopy(of: before, replacedBy: item, in: store)
        try audit.append(.updated, item: row.id, caller: caller, to: store)
    }

    /// A row with its item and its secret; nil if the row is gone, damaged or without a secret.
    private func opened(
        _ name: RowName, in store: any ItemReading
    ) throws(Failure) -> (row: StoredRow, item: Item, secret: SecretBytes)? {
        guard let row = try whole(name, in: store) else { return nil }
        let opened = try undamaged(row) { () throws(Failure) in
            let item = try envelopes.openAttributes(row)
            return (item, try envelopes.openSecret(row, item))
        }
        guard case (let item, let secret?)? = opened else { return nil }
        return (row, item, secret)
    }
}
