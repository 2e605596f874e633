// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams

// Security events: changes that an old copy of the database must not undo. Each has an audit entry in the transaction
// that moves the store generation.

extension Keychain {
    /// Carries out a security event. `change` turns the old contents of the anchor into the new ones; `commit` writes
    /// the changes of the database within the event's transaction.
    func carryOut(
        _ event: SecurityEvent, _ entry: AuditEvent, caller: Caller?,
        change: (inout AnchorRecord.Contents) throws(Failure) -> Void,
        commit: (any ItemWriting) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) {
        let (boot, serial) = (clock.bootID, counters.serial)
        let number = try anchor.numberToExceed(for: event)
        try anchor.carryOut { (before) throws(Failure) -> Anchor.Change in
            let database = try generation()
            var contents: AnchorRecord.Contents
            if let before { contents = before.contents } else { contents = try newContents() }
            try change(&contents)
            let (target, isBeyond) = max(
                database ?? 0, before?.committed ?? 0, counters.generation, number
            ).addingReportingOverflow(1)
            guard !isBeyond else { throw Failure.damagedStore("it has no store generation left") }
            return Anchor.Change(
                event: event, contents: contents, target: target, bootID: boot, countersSerial: serial,
                retainsEarlierSlot: event == .passcodeChanged && chipVerifiesPasscode)
        } overwrite: { () throws(Failure) in
            try changeStore(.anchored, caller: nil) { _ throws(Failure) in
            } state: { _ in
            }
        } commit: { (change) throws(Failure) in
            try changeStore(entry, caller: caller, commit) { $0.generation = change.target }
        }
        anchoring.withLock { $0.isDue = false }
    }

    private func changeStore(
        _ entry: AuditEvent, caller: Caller?, _ body: (any ItemWriting) throws(Failure) -> Void,
        state change: (inout StoreState.Values) -> Void
    ) throws(Failure) {
        try transaction { (store) throws(Failure) in
            try body(store)
            try changeState(in: store, change)
            try audit.append(entry, caller: caller, to: store)
        }
    }

    /// Whether the database may be of a later time than the anchor, which then does not say what is set now.
    package var mayOutdateAnchor: Bool {
        get throws(Failure) {
            guard anchor.condition != .unfinished else { return false }
            // 0 is in a record that was written in place of one that could not be read.
            guard let generation = try generation(), generation > 0 else { return true }
            return generation > anchor.record?.committed ?? 0
        }
    }

    /// The store generation of the database; nil when its state record cannot be read.
    private func generation() throws(Failure) -> UInt64? {
        try store.read { (store) throws(Failure) -> UInt64? in
            try unlessDamaged { () throws(Failure) in try stateValues(in: store).generation }
        }
    }

    private func newContents() throws(Failure) -> AnchorRecord.Contents {
        AnchorRecord.Contents(
            slot: nil, enrolmentGeneration: 1, set: nil, enrolmentKey: .clear(try tree.random.bytes(32)))
    }

    /// Throws while database and anchor do not match: an event would accept both without a passcode.
    private func checkWhole() throws(Failure) {
        try checkReadable()
        try anchor.finish()
    }

    // MARK: - Passcode

    /// Makes stretching parameters for a new passcode: the cost of this daemon and a new salt.
    package func newPasscodeStretching() throws(Failure) -> StretchParameters {
        try .fresh(cost: tree.scryptCost, tree.random)
    }

    /// Sets the first passcode. Throws `notPermitted` when one is set. The items that were added before are sealed for it by
    /// `sealForPasscode`.
    package func setPasscode(_ passcode: NewPasscodeKey, caller: Caller) throws(Failure) {
        try checkWhole()
        let lockCount = tree.lockCount
        let key = try KeyTree.key(try tree.random.bytes(SymmetricKey.byteCount))
        let slot = try PasscodeSlot.make(key, behind: passcode, tree)
        let publicKey = try PasscodePair(key).publicKey
        try carryOut(.passcodeSet, .passcodeSet, caller: caller) { (contents) throws(Failure) in
            guard contents.slot == nil else { throw Failure(.notPermitted, "A passcode is set already.") }
            (contents.slot, contents.passcodeKey) = (slot, publicKey)
        }
        tree.hold(key, since: lockCount)
    }

    /// Whether the TPM verifies the passcode. A change is complete only when the TPM has the new one, after the event, so
    /// both passcodes open the store until then.
    private var chipVerifiesPasscode: Bool { tree.header.tier == .tpm }

    /// Ends a change of the passcode that the TPM has carried out: the earlier passcode does not open the store any more.
    package func completePasscodeChange() throws(Failure) {
        let slots = anchor.slots
        guard slots.count > 1 else { return }
        try anchor.retainOnly(slot: slots[0], insteadOf: slots)
    }

    /// Replaces the passcode but not `U_pass`. `proof` must be a proof of the old passcode.
    package func changePasscode(to passcode: NewPasscodeKey, caller: Caller, proof: Authorisation) throws(Failure) {
        try checkPasscode(proof, of: caller)
        try checkWhole()
        guard let key = tree.passcodeSecret else { throw Failure(.passcodeNotSet, "No passcode is set.") }
        let slot = try PasscodeSlot.make(key, behind: passcode, tree)
        try carryOut(.passcodeChanged, .passcodeChanged, caller: caller) { (contents) throws(Failure) in
            guard contents.slot != nil else { throw Failure(.passcodeNotSet, "No passcode is set.") }
            contents.slot = slot
        }
    }

    /// Replaces the slot after the account password was changed and the previous one has opened `U_pass`.
    /// Called by `latchkey-authd` only, which has verified both passwords.
    package func replaceSlot(with passcode: NewPasscodeKey) throws(Failure) {
        try checkWhole()
        guard let key = tree.passcodeSecret else {
            throw Failure(.passcodeNotSet, "The key that the passcode protects is not open.", hint: "Try again.")
        }
        let slot = try PasscodeSlot.make(key, behind: passcode, tree)
        try carryOut(.passcodeChanged, .passcodeChanged, caller: nil) { (contents) throws(Failure) in
            guard contents.slot != nil else { throw Failure(.passcodeNotSet, "No passcode is set.") }
            contents.slot = slot
        }
    }

    /// Removes the passcode and, in the same transaction, every item that cannot be sealed without it. The others are sealed
    /// without the passcode's key pair, so they can be read when a passcode is set again. A row with damaged attributes
    /// remains; if its secret needs a key of the passcode, it cannot be read any more.
    package func removePasscode(caller: Caller, proof: Authorisation) throws(Failure) {
        try checkPasscode(proof, of: caller)
        try checkWhole()
        defer {
            reportDamage()
            // The last write of the removal can fail when it has happened already.
            if !isPasscodeSet { tree.forgetPasscodeKey() }
        }
        try carryOut(.passcodeRemoved, .passcodeRemoved, caller: caller) { (contents) throws(Failure) in
            (contents.slot, contents.passcodeKey) = (nil, nil)
        } commit: { (store) throws(Failure) in
            try deleteAll(caller: caller, in: store, where: isLostWithPasscode)
            try sealWithoutPasscode(caller: caller, in: store)
        }
    }

    /// Deletes the rows of the items that satisfy `isDoomed`, with an audit entry for each.
    func deleteAll(caller: Caller, in store: any ItemWriting, where isDoomed: (Item) -> Bool) throws(Failure) {
        var rows: [DoomedRow] = []
        try store.forEachRow(.all, columns: .withoutSecret) { (row) throws(Failure) in
            let item = try undamaged(row) { () throws(Failure) in try envelopes.openAttributes(row) }
            if let item, isDoomed(item) { rows.append(DoomedRow(row, item)) }
            return true
        }
        for row in rows { try delete(row, caller, store) }
    }

    /// Checks a passcode as it was typed against the slots.
    package func unlock(_ typed: SecretBytes) throws(Failure) -> Bool { try unlock(.typed(typed)) }

    /// Checks a passcode against the slots; a right one puts `U_pass` into memory, unless the device is locked
    /// meanwhile. Blocks while scrypt runs, up to once for each slot, if the passcode was typed.
    package func unlock(_ passcode: PasscodeSecret) throws(Failure) -> Bool {
        let slots = anchor.slots
        let lockCount = tree.lockCount
        for slot in slots {
            guard let key = try PasscodeSlot.open(slot, passcode, tree) else { continue }
            try checkPair(key)
            tree.hold(key, since: lockCount)
            try finish(slot, of: slots, key, passcode)
            return true
        }
        return false
    }

    /// Throws unless the public key in the anchor is that of `U_pass`. An attacker with the root key could replace it,
    /// and items would be sealed for the key of another person.
    func checkPair(_ key: SymmetricKey) throws(Failure) {
        guard anchor.passcodeKey == (try PasscodePair(key).publicKey) else {
            throw Failure(
                .storeUnreadable, "The anchor of the store has a public key that is not the passcode's.",
                hint: "Put back the file anchor of a backup. Without one, discard what the passcode protects with: "
                    + "latchkey reset")
        }
    }

    /// After a right passcode: drops the slot of an interrupted change, and replaces a slot of a lower cost.
    private func finish(
        _ slot: [UInt8], of slots: [[UInt8]], _ key: SymmetricKey, _ passcode: PasscodeSecret
    ) throws(Failure) {
        if case .typed(let typed) = passcode, PasscodeSlot.needsRaise(slot, to: tree.scryptCost) {
            let stretched = try StretchedPassword(typed, newPasscodeStretching())
            try anchor.retainOnly(
                slot: try PasscodeSlot.make(key, behind: .stretched(stretched), tree), insteadOf: slots)
        } else if slots.count > 1 {
            try anchor.retainOnly(slot: slot, insteadOf: slots)
        }
    }

    // MARK: - Enrolment and lockout

    /// Adopts the sensor's current enrolment set. The key of the old set is erased before this returns.
    /// - Returns: whether the set has changed, which invalidates the items bound to the old one.
    package func apply(_ set: EnrolmentSet?) throws(Failure) -> Bool {
        try anchor.finish()
        if let refusal = anchor.condition.refusal { throw refusal }
        guard anchor.set != set else { return false }
        let key = try tree.random.bytes(32)
        try carryOut(.enrollmentChanged, .enrollmentChanged, caller: nil) { (contents) throws(Failure) in
            try contents.beginGeneration(key)
            contents.set = set
        }
        return true
    }

    /// Moves the store generation after a lockout, so that an older copy of the database, without the lockout, is
    /// refused.
    package func recordLockout(caller: Caller?) throws(Failure) {
        try checkWhole()
        try carryOut(.lockedOut, .lockedOut, caller: caller) { _ throws(Failure) in }
    }

    // MARK: - Accepting and discarding

    /// Accepts database and anchor as they are, and computes the set hash of the current rows. If the two did not
    /// match, the items of `biometryCurrentSet` are invalidated. `proof` must be a proof of the passcode, if one is
    /// set.
    package func acceptStore(caller: Caller, proof: Authorisation) throws(Failure) {
        if isPasscodeSet { try checkPasscode(proof, of: caller) }
        if anchor.condition == .anchorMissing { try checkReadable() }
        let fits = anchor.condition.refusal == nil
        let key = try tree.random.bytes(32)
        try carryOut(.accepted, .rollbackAccepted, caller: caller) { (contents) throws(Failure) in
            guard !fits else { return }
            try contents.beginGeneration(key)
        } commit: { (store) throws(Failure) in
            try rebaseSum(in: store)
        }
    }

    /// Deletes everything that requires a finger, a face or the passcode, and the passcode and the enrolment key themselves;
    /// needed when the anchor is lost. `proof` must be a proof of the passcode, if the anchor has one.
    package func discardProtected(caller: Caller, proof: Authorisation) throws(Failure) {
        if isPasscodeSet { try checkPasscode(proof, of: caller) }
        try discard(caller)
    }

    /// Like `discardProtected`, for a forgotten passcode and without a proof. It reveals nothing: the items of the
    /// passcode class and everything protected are deleted. Only for tiers in which every program of the user can
    /// delete the store as well.
    package func discardForgotten(caller: Caller) throws(Failure) { try discard(caller) }

    private func discard(_ caller: Caller) throws(Failure) {
        defer { if !isPasscodeSet { tree.forgetPasscodeKey() } }
        let key = try tree.random.bytes(32)
        try carryOut(.protectedDiscarded, .protectedDiscarded, caller: caller) { (contents) throws(Failure) in
            try contents.beginGeneration(key)
            (contents.slot, contents.passcodeKey) = (nil, nil)
        } commit: { (store) throws(Failure) in
            try deleteAll(caller: caller, in: store) { $0.accessControl.isDiscardedWithPasscode }
            try rebaseSum(in: store)
        }
    }
}
