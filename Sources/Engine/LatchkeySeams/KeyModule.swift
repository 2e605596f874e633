// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role of the Secure Enclave: creates and uses private keys. One contract suite tests every driver.
///
/// A key is used in two steps. `begin` loads the key and says what the module needs before it computes; `finish`
/// passes that on and returns the result. Between the two, an authority approves the challenge of a module that checks
/// approvals itself (a TPM by its policy); the person may have to be asked first, so the steps are separate calls.
///
/// All calls may come from any thread, and block unless `isImmediate`. The engine checks access control and proofs
/// before each use, whatever the module checks.
package protocol KeyModule: AnyObject, Sendable {
    var kind: EnclaveKind { get }
    /// The device of the module if it is known without asking it; does not block. Nil until `findDevice` has found it, and
    /// for a module without a device.
    var device: EnclaveDevice? { get }
    /// What root has to mend about the device, found when the process started; nil if nothing is known. Does not block.
    var deviceProblem: Failure? { get }
    /// Asks the device what it is, which sets `device`; does nothing for a module without a device, and if it is known.
    func findDevice() throws(Failure)
    /// Whether every call only computes, for less than 100 microseconds, so that it may run on the thread that serves
    /// all clients. Handing a call to another thread and back takes 10 to 20 microseconds, about half a signature of
    /// the software module. A module that waits for a device must return false.
    var isImmediate: Bool { get }
    /// Whether the module itself checks that an authority approved each use; `create` then needs a `KeyBinding`, and each
    /// challenge has a subject.
    var checksApprovals: Bool { get }
    /// Whether a blob was made by this kind of module; it may still be damaged. Blobs of different kinds differ in their
    /// first byte, so that a store can contain keys of several modules.
    func recognises(_ blob: SecretBytes) -> Bool
    /// Whether the module itself demands a passcode for each use of a key, so that the key is lost with the passcode. Reads
    /// the blob only. Throws `internalFailure` for a blob that this kind of module did not make.
    func needsPasscode(_ blob: SecretBytes) throws(Failure) -> Bool
    /// Creates a P-256 private key. Whatever `properties` names and the module can check itself is bound to the key.
    func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey
    /// Does for a use of a key what depends on neither the operation nor an approval, while the person is asked: loads the
    /// key, and begins the session. Uses nothing, and changes no result; a use without it only takes longer.
    ///
    /// - Parameter blob: the `ModuleKey.blob` of the key.
    /// - Throws: the errors of `begin`. Unless it throws, one call of `endPreparation` must follow.
    func prepare(_ blob: SecretBytes) throws(Failure)
    /// Ends a preparation.
    ///
    /// - Parameter isUsed: whether the key was used. Otherwise nothing that was prepared remains in the device.
    func endPreparation(isUsed: Bool)
    /// Begins one use of a key.
    ///
    /// - Parameters:
    ///   - blob: the `ModuleKey.blob` of the key.
    ///   - operation: the complete operation; `finish` cannot change it.
    /// - Returns: the challenge, whose identifier is valid for one `finish` by this instance of the module.
    /// - Throws: `limitExceeded` if `Limits.begunKeyUses` uses are begun and not finished; `internalFailure` for a blob
    ///   that this kind of module did not make.
    func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge
    /// Finishes a use, whether it succeeds or not: its identifier is invalid afterwards.
    ///
    /// - Parameters:
    ///   - approval: the approval of the challenge; required if and only if the challenge has a subject.
    ///   - password: the `KeyProperties.password` of the key; ignored for a key without one.
    /// - Returns: r and s of an ECDSA signature, or the X coordinate of an ECDH shared secret, each 32 bytes,
    ///   big-endian.
    /// - Throws: `timedOut` for a use that was finished or abandoned before, began more than
    ///   `Limits.begunKeyUseSeconds` ago, or was begun by another instance; `itemAuthenticationFailed` for a missing or
    ///   wrong approval or password; `invalidParameter` for a point that is not on the curve.
    func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes
    /// Ends a use without a result, and wipes what the module holds for it. Does nothing for a use that has ended.
    func abandon(_ use: KeyChallenge.Identifier)
    /// Makes an attestation key, which proves for one relying party that keys of this module cannot leave the device. A
    /// relying party that shares one with another can link the two.
    ///
    /// - Throws: `unimplemented` from a module whose keys are not bound to a device.
    func newAttestationKey() throws(Failure) -> AttestationKey
    /// Proves to a relying party that an attestation key is in the device with the endorsement key of the request.
    ///
    /// - Parameters:
    ///   - attestationKey: an `AttestationKey.blob`.
    ///   - challenge: the challenge of the relying party, which answers `AttestationKey.request`.
    /// - Returns: the answer for the relying party.
    /// - Throws: `itemAuthenticationFailed` for a challenge that was made for another key or another device;
    ///   `invalidParameter` for one that is malformed; `unimplemented` as above.
    func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8]
    /// Returns the proof that the key was made by the device with the attestation key, which it cannot leave. Needs no
    /// approval: the key is not used.
    ///
    /// - Parameters:
    ///   - blob: the `ModuleKey.blob` of the key.
    ///   - attestationKey: an `AttestationKey.blob`.
    ///   - nonce: `Limits.nonceBytes` from the relying party, which the proof contains.
    /// - Throws: `invalidParameter` for a nonce of another length; `unimplemented` as above.
    func attest(_ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]) throws(Failure) -> [UInt8]
    /// Deletes what the module stores of the key outside the blob. Succeeds for a key that was erased before. After it,
    /// the blob of a module that stores keys itself is useless; that of any other module is not affected.
    func erase(_ blob: SecretBytes) throws(Failure)
}

// A module of software has no device and demands no passcode. The status says of a TPM without a device that its kind is
// not known.
extension KeyModule {
    package var device: EnclaveDevice? { nil }
    package var deviceProblem: Failure? { nil }
    package func findDevice() throws(Failure) {}
    package func needsPasscode(_ blob: SecretBytes) throws(Failure) -> Bool { false }
    package func prepare(_ blob: SecretBytes) throws(Failure) {}
    package func endPreparation(isUsed: Bool) {}
}

/// The properties of a new key of a module.
package struct KeyProperties: Sendable {
    package var accessControl: AccessControl
    /// The enrolment set to which the access control binds the key; nil if it binds it to none.
    package var enrolment: EnrolmentSet?
    /// A key of 32 bytes that the engine derives from the application password; nil if the access control requires no
    /// password. Each use needs it.
    package var password: SecretBytes?
    /// The authority that must approve each use; required if and only if the module checks approvals.
    package var binding: KeyBinding?

    package init(
        accessControl: AccessControl, enrolment: EnrolmentSet? = nil, password: SecretBytes? = nil,
        binding: KeyBinding? = nil
    ) {
        self.accessControl = accessControl
        self.enrolment = enrolment
        self.password = password
        self.binding = binding
    }
}

/// A new P-256 private key in the form in which its module exports it.
package struct ModuleKey: Sendable {
    /// The bytes with which the module can use the key again: a sealed object of a TPM, or the private key itself.
    package var blob: SecretBytes
    /// The public key in X9.63 format: 04, X, Y; 65 bytes.
    package var publicKey: [UInt8]

    package init(blob: SecretBytes, publicKey: [UInt8]) { (self.blob, self.publicKey) = (blob, publicKey) }
}

/// What a module needs before it finishes a use of a key.
package struct KeyChallenge: Equatable, Sendable {
    /// Identifies one begun use, among all uses of all modules of the process.
    package struct Identifier: Hashable, Sendable {
        package let number: UInt64
        init(_ number: UInt64) { self.number = number }
    }

    package let use: Identifier
    /// The nonce of the module's session, which the approval must cover; empty if no approval is needed.
    package let nonce: [UInt8]
    /// The handle of the module's session, to which a passcode is proven; 0 for none.
    package let session: UInt32
    /// What must be approved; nil if the module relies on the checks of the engine.
    package let subject: ApprovalSubject?

    package init(_ use: Identifier, nonce: [UInt8] = [], session: UInt32 = 0, subject: ApprovalSubject? = nil) {
        (self.use, self.nonce, self.session, self.subject) = (use, nonce, session, subject)
    }
}

/// A new attestation key of a device. The formats of the messages are in `docs/reference/device-proof.md`.
package struct AttestationKey: Sendable {
    /// The bytes with which the module can use the key again. The caller stores them, once for each relying party.
    package var blob: SecretBytes
    /// The request with which the enrolment begins. It contains the endorsement key, which identifies the device for as
    /// long as it exists, so the person must agree before it is sent.
    package var request: [UInt8]

    package init(blob: SecretBytes, request: [UInt8]) { (self.blob, self.request) = (blob, request) }
}

/// What a carried command is for. It decides which objects and sessions are in the TPM beside it, and nothing else.
package enum CarriedPurpose: Sendable {
    /// To verify, set or change the passcode: names only what carried commands have made.
    case passcode
    /// To prove the passcode to the session of a use of a key, which `latchkeyd` has begun.
    case proof
    /// To prepare a verification while a prompt is shown: refused where all programs share the places of the TPM, which are
    /// too few to be held for a prompt.
    case preparation
}

/// Passes the commands of `latchkey-authd` to the TPM, which only `latchkeyd` can open. They are authenticated in
/// sessions whose keys the carrier does not have, so it can refuse a command, but neither read its secrets nor change it.
package protocol CommandCarrier: AnyObject, Sendable {
    /// Sends a command of the TPM and returns its response. Blocks.
    ///
    /// - Throws: `vaultUnavailable` or `enclaveUnavailable` if the TPM cannot be used, `systemCancel` if the connection
    ///   between the services ended.
    func carry(_ command: [UInt8], for purpose: CarriedPurpose) throws(Failure) -> [UInt8]
    /// Removes what carried commands have left in the memory of the TPM, because no further one will come.
    func endCarrying()
}

/// The role that approves uses of keys whose module checks approvals itself. It is the authority of the user, so that
/// who stores a key cannot use it without the person.
///
/// All calls block.
package protocol KeyApprover: AnyObject, Sendable {
    /// Returns what binds a new key to this authority.
    ///
    /// - Throws: `invalidParameter` for an access control that cannot be bound, such as one with a paired device;
    ///   `enrolmentBindingUnavailable` if it requires an enrolment set and there is none; `unimplemented` if this
    ///   authority approves nothing.
    func binding(storeID: [UInt8], _ accessControl: AccessControl) throws(Failure) -> KeyBinding
    /// Approves one use of a key.
    ///
    /// - Throws: `notPermitted` if the tokens do not permit it any more, so that the person has to be asked again;
    ///   `itemAuthenticationFailed` for a key that is not bound to this authority, access control and enrolment set.
    func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval
}

/// What the proof of a passcode is valid for.
package struct KeyPasscodeProof: Equatable, Sendable {
    /// The handle and the nonce of the chip's session.
    package let session: UInt32
    package let nonce: [UInt8]
    /// The digest of the command, 32 bytes.
    package let command: [UInt8]
    /// The reference of the key's policy, 32 bytes.
    package let reference: [UInt8]
    /// Seconds from the nonce until the proof expires; positive.
    package let expirySeconds: Int32

    package init(session: UInt32, nonce: [UInt8], command: [UInt8], reference: [UInt8], expirySeconds: Int32) {
        (self.session, self.nonce, self.command) = (session, nonce, command)
        (self.reference, self.expirySeconds) = (reference, expirySeconds)
    }
}
