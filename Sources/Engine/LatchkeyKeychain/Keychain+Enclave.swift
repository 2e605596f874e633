// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams

/// A private key of the enclave, opened for one operation.
package struct OpenedKey: Sendable {
    /// The private key in the key module's encoding; it never leaves the daemon.
    package var blob: SecretBytes
    package var accessControl: AccessControl
    /// What the key module gets in place of the application password; nil if the key has none.
    package var password: SecretBytes?
    /// Identifies the key in the audit log.
    package var item: UsedItem
    /// The same; nil when its access control requires no proof, and a use is not recorded.
    package var use: UsedItem? { accessControl.isProtected ? item : nil }
}

package enum KeyOpening: Sendable {
    case opened(OpenedKey)
    /// The missing proofs, and the identifier of the key in the audit log.
    case needs(AuthenticationPlan, item: [UInt8])
    /// Parameters that the application password must be stretched with first.
    case stretch(StretchParameters)
}

/// Private keys of the enclave are items whose secret is the key module's encoding of the key. They are sealed like
/// any other item, under the same access controls, and opened only inside the daemon.
extension Keychain {
    /// `kSecAttrTokenIDSecureEnclave`.
    package static let enclaveToken = "com.apple.setoken"

    /// Returns the private key with which the authority of this user approves uses of keys, if it has none of its own:
    /// a scalar of P-256, derived from the keys of the store, 32 bytes.
    package func approvalKey() throws(Failure) -> SecretBytes {
        // Fewer than one in four billion derived values are no scalar.
        for number in 0..<4 as Range<UInt8> {
            let key = try tree.approvalKey.derive(.approval, context: [number]).secret
            if PrivateScalar(key, curve: .p256)?.publicPoint != nil { return key }
        }
        throw Failure(.internalFailure, "No key for approvals can be derived.")
    }

    /// Returns the properties with which the key module creates a key.
    ///
    /// - Parameter password: must hold the stretched key if the access control requires an application password.
    package func properties(
        ofNewKey accessControl: AccessControl, _ password: AppPassword
    ) throws(Failure) -> KeyProperties {
        let constraints = accessControl.constraints
        return KeyProperties(
            accessControl: accessControl, enrolment: constraints.contains(.biometryCurrentSet) ? anchor.set : nil,
            password: constraints.contains(.applicationPassword) ? try password.moduleKey(password.sealing) : nil)
    }

    /// Seals a new key, and stores it or, unless `request.isPermanent`, returns it for the app to store.
    ///
    /// - Parameters:
    ///   - request: its attributes describe the key.
    ///   - blob: the private key in the key module's encoding.
    ///   - publicKey: the point in X9.63 encoding.
    ///   - enrolment: the enrolment set for which the module created the key; nil if the access control binds it to none.
    ///   - password: the application password; must hold the stretched key if the access control requires one.
    ///   - demandsPasscode: whether the module itself demands the passcode for each use, so that the blob need not be
    ///     sealed for it.
    package func addKey(
        _ request: Request.CreateEnclaveKey, blob: SecretBytes, publicKey: [UInt8], caller: Caller,
        enrolment: EnrolmentSet? = nil, password: AppPassword = .none, demandsPasscode: Bool = false
    ) throws(Failure) -> EnclaveKey {
        try checkReadable()
        guard request.attributes[.synchronizable] != .boolean(true) else {
            throw Failure(.invalidParameter, "A key of the Secure Enclave cannot be synchronized.")
        }
        var item = try newItem(
            Request.AddItem(
                itemClass: .key, attributes: request.attributes, accessControl: request.accessControl, secret: blob,
                returns: [], authentication: request.authentication), caller, password)
        // Otherwise the module would refuse every use of the key, and the keychain would report it as usable.
        guard item.wrapping.generation == nil || enrolment == anchor.set else {
            throw Failure(
                .enrolmentBindingUnavailable, "The enrolled fingers or faces changed while the key was created.",
                hint: "Create the key again.")
        }
        item.attributes[.tokenID] = .text(Self.enclaveToken)
        item.attributes[.publicKey] = .data(publicKey)
        let generation = item.wrapping.generation
        item.wrapping =
            demandsPasscode
            ? RowKeyWrapping(item.accessControl, generation, nil)
            : wrapping(item.accessControl, generation, isInToken: true)
        guard request.isPermanent else {
            // The app stores all other attributes itself.
            let retained: Set<AttributeCode> = [.accessGroup, .tokenID, .publicKey, .creationDate]
            let row = try sealed(detached(item, retained), .key, blob, password)
            return description(item, .detached(DetachedKey(row).bytes), publicKey)
        }
        let row = try sealed(item, .key, blob, password)
        try insert(row, caller)
        return description(item, .stored(try references.make(row)), publicKey)
    }

    private func detached(_ item: Item, _ retained: Set<AttributeCode>) -> Item {
        Item(
            attributes: item.attributes.filter { retained.contains($0.key) }, accessControl: item.accessControl,
            wrapping: item.wrapping, stretching: item.stretching)
    }

    private func description(_ item: Item, _ name: EnclaveKeyName, _ publicKey: [UInt8]) -> EnclaveKey {
        EnclaveKey(
            name: name, publicKey: publicKey, attributes: item.attributes.filter { $0.key != .publicKey },
            accessControl: item.accessControl)
    }

    /// Returns the public key and the attributes of a key.
    package func describeKey(_ name: EnclaveKeyName, caller: Caller) throws(Failure) -> EnclaveKey {
        let (_, item) = try key(name, caller, columns: .withoutSecret)
        guard case .data(let publicKey) = item.attributes[.publicKey] else { throw Self.noSuchKey }
        return description(item, name, publicKey)
    }

    /// Opens a key for one operation, if `proof` satisfies its access control.
    ///
    /// Throws `itemNotFound` for a key that does not exist, `invalidParameter` for a detached key of another store,
    /// `keyUsageNotAllowed` without `privateKeyUsage`, and `itemAuthenticationFailed` for a key of a replaced
    /// enrolment set.
    package func openKey(
        _ name: EnclaveKeyName, caller: Caller, proof: Authorisation, password: AppPassword
    ) throws(Failure) -> KeyOpening {
        defer { reportDamage() }
        let proof = try valid(proof, for: caller)
        let (row, item) = try key(name, caller, columns: .all)
        guard item.accessControl.constraints.contains(.privateKeyUsage) else {
            throw Failure(
                .keyUsageNotAllowed, "The key's access control does not allow its use.",
                hint: "Make it with .privateKeyUsage.")
        }
        // Behaviour SE-05: a key of a replaced enrolment set is still found, but cannot be used.
        guard !isDead(item) else {
            throw Failure(
                .itemAuthenticationFailed, "The key was bound to fingers or faces no longer enrolled.",
                hint: "Delete it and make a new one.", reason: .replaced)
        }
        // Removing a passcode seals stored keys without it; those that an app stores itself are out of reach.
        guard item.wrapping.passcode == nil || item.wrapping.passcode == anchor.passcodeKey?.identifier else {
            throw Failure(
                .itemAuthenticationFailed, "The key needed a passcode that was removed.",
                hint: "Delete it and make a new one.", reason: .replaced)
        }
        let missing = try missing(toOpen: item, proof)
        guard missing.stages.isEmpty else { return .needs(missing, item: row.id) }
        if let unstretched = try password.missing(for: item) { return .stretch(unstretched) }
        guard let blob = try blob(name, row, item, password) else { throw Self.noSuchKey }
        return .opened(
            OpenedKey(
                blob: blob, accessControl: item.accessControl,
                password: item.asksForAppPassword ? try password.moduleKey(item.stretching) : nil,
                item: UsedItem(row, item, proof)))
    }

    /// Returns a key in the key module's encoding before the person has proven anything, so that the module can prepare its
    /// use; nil for a key that cannot be used, or that needs more than the keys of the store to be opened. It is worth
    /// nothing by itself where the module checks approvals, and the caller must not open a key for another module.
    package func keyToPrepare(_ name: EnclaveKeyName, caller: Caller) -> SecretBytes? {
        do throws(Failure) {
            let (row, item) = try key(name, caller, columns: .all)
            guard item.accessControl.constraints.contains(.privateKeyUsage), !isDead(item),
                item.wrapping.passcode == nil, !item.asksForAppPassword
            else { return nil }
            return try envelopes.openSecret(row, item, password: .none)
        } catch {
            // The use reports a damage.
            return nil
        }
    }

    /// Returns the key in the key module's encoding; nil for a damaged row, which is then quarantined.
    private func blob(
        _ name: EnclaveKeyName, _ row: StoredRow, _ item: Item, _ password: AppPassword
    ) throws(Failure) -> SecretBytes? {
        guard case .detached = name else {
            return try undamaged(row) { () throws(Failure) in
                try envelopes.openSecret(row, item, password: password)
            } ?? nil
        }
        do throws(Failure) {
            return try envelopes.openSecret(row, item, password: password)
        } catch {
            // A detached key is not a row of the store: bytes that the app changed are not a damaged store.
            throw error.status == .storeUnreadable ? Self.notMadeHere : error
        }
    }

    /// Throws unless an update of an enclave key changes only its label, tag, group or modification date.
    func checkChange(of item: Item, _ request: Request.UpdateItems) throws(Failure) {
        let changeable: Set<AttributeCode> = [.label, .applicationTag, .accessGroup, .modificationDate]
        guard request.secret == nil, request.accessControl == nil,
            request.changes.keys.allSatisfy(changeable.contains)
        else { throw Failure(.invalidParameter, "Only label, tag and group of a Secure Enclave key can be changed.") }
        guard !isDead(item) else {
            throw Failure(
                .itemAuthenticationFailed, "The key was bound to fingers or faces no longer enrolled.",
                reason: .replaced)
        }
    }

    private static var noSuchKey: Failure { Failure(.itemNotFound, "There is no such key.") }

    private static var notMadeHere: Failure {
        Failure(.invalidParameter, "The key was not made by this Secure Enclave for this app.")
    }

    private func key(
        _ name: EnclaveKeyName, _ caller: Caller, columns: RowColumns
    ) throws(Failure) -> (StoredRow, Item) {
        try checkReadable()
        switch name {
        case .stored(let reference):
            var found: (StoredRow, Item)?
            try store.read { (store) throws(Failure) in
                let query = ItemQuery(itemClass: .key, persistentReference: reference)
                try forEachMatch(query, caller, columns: columns, in: store) { (row, item) throws(Failure) in
                    if item.isInToken { found = (row, item) }
                    return false
                }
            }
            guard let found else { throw Self.noSuchKey }
            return found
        case .detached(let bytes):
            guard let row = DetachedKey(bytes)?.row else {
                throw Failure(.invalidParameter, "The bytes are not a key of the Secure Enclave.")
            }
            // The key of another store and a changed key look alike: both fail authentication.
            let opened = try unlessDamaged { () throws(Failure) in try envelopes.openAttributes(row) }
            guard let item = opened, item.isInToken, caller.groups.containsBytes(of: item.accessGroup) else {
                throw Self.notMadeHere
            }
            return (row, item)
        }
    }
}

extension Request.CreateEnclaveKey {
    /// Returns the request with the attributes that follow from the key. They replace the app's own values (behaviour
    /// SE-01), except its application label, which is set only when missing (behaviour SK-09).
    package func describing(_ publicKey: [UInt8]) throws(Failure) -> Self {
        var request = self
        request.attributes.merge(.ofKey(.privateKey, .ellipticCurve, bitCount: 256, isPermanent: isPermanent))
        if request.attributes[.applicationLabel] == nil {
            request.attributes[.applicationLabel] = .data(try DigestAlgorithm.sha1.hash(publicKey))
        }
        return request
    }
}
