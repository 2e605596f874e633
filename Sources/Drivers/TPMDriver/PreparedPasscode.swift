// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// What a verification of a passcode finds in the TPM if it was prepared: the sealed secret, loaded, and two sessions.
struct ReadyVerification: Sendable {
    let root: StorageRoot
    let index: PasscodeIndex
    /// The wrong values that the TPM had counted when it was made.
    var wrong: UInt32
    let object: TPMEntity
    /// The session whose policy the passcode fulfils, and the one that proves it.
    let policy, proof: TPMSession
}

/// What is prepared in the TPM for the passcode that a prompt asks for. It is removed also after a failure of the connection
/// of this process: the process that carries the commands may have kept its own.
struct PreparedPasscode: Sendable {
    private var verification: (record: [UInt8], ready: ReadyVerification)?
    private var proof: (parent: [UInt8], session: TPMSession)?
    /// The sealed secret that a verification has left loaded.
    var object: TPMHandle?

    var isEmpty: Bool { verification == nil && proof == nil && object == nil }

    func isReady(for record: [UInt8]) -> Bool { verification?.record == record }

    mutating func store(_ ready: ReadyVerification, of record: [UInt8]) { verification = (record, ready) }

    /// Returns what is ready for a verification of the record; its sessions belong to the caller, and the object remains.
    mutating func takeVerification(of record: [UInt8]) -> ReadyVerification? {
        guard isReady(for: record), let ready = verification?.ready else { return nil }
        (verification, object) = (nil, ready.object.handle)
        return ready
    }

    /// Adopts that the right value of a record has ended the count of wrong ones.
    mutating func restartCount(of record: [UInt8]) { if isReady(for: record) { verification?.ready.wrong = 0 } }

    /// Returns the handles of everything that is there for verifications.
    mutating func takeRemains() -> [TPMHandle] {
        defer { (verification, object) = (nil, nil) }
        let ready = verification?.ready
        return [ready?.policy.handle, ready?.proof.handle, ready?.object.handle, object].compactMap(\.self)
    }

    func hasProof(below parent: [UInt8]) -> Bool { proof?.parent == parent }

    mutating func store(proof session: TPMSession, below parent: [UInt8]) { proof = (parent, session) }

    /// Returns the session of a proof, unless it was made for another storage root key.
    mutating func takeProof(below parent: [UInt8]) -> TPMSession? { hasProof(below: parent) ? takeProof() : nil }

    mutating func takeProof() -> TPMSession? {
        defer { proof = nil }
        return proof?.session
    }
}

extension TPMClient {
    /// Reads the count of a passcode's index, loads its sealed secret and starts the sessions of its verification. Leaves
    /// nothing if that fails.
    mutating func prepare(_ record: PasscodeIndexRecord) throws(TPMError) -> ReadyVerification {
        let (index, area) = try failing { () throws(Failure) in (try record.index(), try record.area.encoded()) }
        let root = try storageRoot(named: record.parent)
        let wrong = try count(of: index, in: root).wrong
        let object = try load(record.privatePart, publicArea: area, below: root)
        var made = [object.handle]
        do throws(TPMError) {
            let policy = try startSession(.policy, salted: root)
            made.append(policy.handle)
            let proof = try startSession(.hmac, salted: root)
            return ReadyVerification(
                root: root, index: index, wrong: wrong, object: object, policy: policy, proof: proof)
        } catch {
            remove(made)
            throw error
        }
    }

    /// Unseals the secret with the value of its index, in two commands. Both sessions end; the object remains.
    mutating func open(_ ready: ReadyVerification, _ value: SecretBytes) throws(TPMError) -> SecretBytes {
        var policy = ready.policy
        // The session belongs to this process only. It may be as old as the prompt, so that the usual time is counted from now.
        let age = max(0, clock.uptime - policy.nonceTime) / 1_000_000_000
        let proof = KeyPasscodeProof(
            session: policy.handle.number, nonce: policy.nonce, command: [], reference: [],
            expirySeconds: Self.proofSeconds + Int32(clamping: min(age, 600)))
        try prove(value, of: ready.index, proof, in: ready.proof)
        let secret = try send(.unseal, [ready.object], [], in: &policy, encryptsResponse: true, endsSession: true)
            .secret
        guard let secret else { throw .failed(TPMReader.malformed) }
        return secret
    }

    /// Removes what a verification that failed has left.
    mutating func remove(_ ready: ReadyVerification) { remove([ready.policy.handle, ready.object.handle]) }

    /// Removes objects and sessions. What cannot be removed now is removed with the connection.
    mutating func remove(_ handles: [TPMHandle]) { for handle in handles { try? flush(handle) } }
}
