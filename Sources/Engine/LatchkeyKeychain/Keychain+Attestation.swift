// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Attestation keys, which the program that enrolled stores itself. They are sealed in the form of a key of the enclave
/// that the app stores (`DetachedKey`), together with the access group of the program and the name of the relying party.
extension Keychain {
    /// The token of an attestation key. No key of the enclave has it, so one cannot pass for the other.
    private static let attestationToken = "latchkey.attestation"

    /// Checks that an attestation key can be sealed for the caller now. The check comes before the prompt, so that no
    /// person approves a request that then fails.
    ///
    /// - Throws: `locked` if the device is locked; a `Failure` if the store cannot be read or the caller has no group.
    package func checkSealsAttestationKeys(_ caller: Caller) throws(Failure) {
        try checkReadable()
        _ = try groups([:], caller)
        guard tree.isAvailable(Self.accessControl.accessibility) else { throw Failure.locked }
    }

    private static var accessControl: AccessControl { AccessControl(accessibility: .whenUnlockedThisDeviceOnly) }

    /// Seals a new attestation key for a program and a relying party.
    package func sealAttestationKey(_ blob: SecretBytes, party: String, caller: Caller) throws(Failure) -> [UInt8] {
        try checkSealsAttestationKeys(caller)
        let group = try groups([:], caller)[0]
        let item = Item(
            attributes: [
                .accessGroup: .text(group), .tokenID: .text(Self.attestationToken), .label: .text(party),
            ], accessControl: Self.accessControl)
        return DetachedKey(try sealed(item, .key, blob, .none)).bytes
    }

    /// Opens an attestation key.
    ///
    /// - Throws: `invalidParameter` if the key was sealed by another store, for an access group that the caller does
    ///   not have, or for another relying party.
    package func openAttestationKey(_ bytes: [UInt8], party: String, caller: Caller) throws(Failure) -> SecretBytes {
        try checkReadable()
        guard let row = DetachedKey(bytes)?.row else { throw Self.notMadeHere }
        // The key of another store and a changed key look alike: both fail authentication.
        guard let item = try unlessDamaged({ () throws(Failure) in try envelopes.openAttributes(row) }),
            item.attributes[.tokenID] == .text(Self.attestationToken), caller.groups.containsBytes(of: item.accessGroup)
        else { throw Self.notMadeHere }
        // One key for several relying parties would let them link what each of them knows.
        guard item.attributes[.label] == .text(party) else {
            throw Failure(
                .invalidParameter, "The attestation key was made for another relying party.",
                hint: "Enroll the device with \(party).")
        }
        do throws(Failure) {
            guard let blob = try envelopes.openSecret(row, item) else { throw Self.notMadeHere }
            return blob
        } catch {
            throw error.status == .storeUnreadable ? Self.notMadeHere : error
        }
    }

    private static var notMadeHere: Failure {
        Failure(
            .invalidParameter, "The attestation key was not made by this keychain for this program.",
            hint: "Enroll the device with the relying party again.")
    }

    /// Records that a key was attested; called before the proof is returned.
    package func recordAttestation(of key: UsedItem, caller: Caller, biometry: BiometryKind) throws(Failure) {
        try writeWithinQuota { (store) throws(Failure) in
            try checkRoom(for: .keyAttested, in: store)
            _ = try audit.append(
                .keyAttested, item: key.id, caller: caller, ground: .allowed(key.grounds(biometry)), to: store)
        }
    }
}
