// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// What a verification of a passcode finds in the TPM if it was prepared: the sealed secret, loaded, and two sessions.
struct ReadyVerification: Sendable {
    let root: StorageRoot
    let object: TPMEntity
    /// The session whose policy the passcode fulfils, and the one that proves it.
    let policy, proof: TPMSession
}

/// What is prepared in the TPM for the passcode that a prompt asks for. Handles of an earlier connection are forgotten.
struct PreparedPasscode: Sendable {
    private var verification: (record: [UInt8], generation: UInt64, ready: ReadyVerification)?
    private var proof: (parent: [UInt8], generation: UInt64, session: TPMSession)?
    /// The sealed secret that a verification has left loaded.
    var object: (handle: TPMHandle, generation: UInt64)?

    var isEmpty: Bool { verification == nil && proof == nil && object == nil }

    /// Whether a verification of the record is prepared, perhaps on an earlier connection.
    func isReady(for record: [UInt8]) -> Bool { verification?.record == record }

    mutating func store(_ ready: ReadyVerification, of record: [UInt8], _ generation: UInt64) {
        verification = (record, generation, ready)
    }

    /// Returns what is ready for a verification of the record; its sessions belong to the caller, and the object remains.
    mutating func takeVerification(of record: [UInt8], _ generation: UInt64) -> ReadyVerification? {
        guard isReady(for: record), let (_, made, ready) = verification, made == generation else { return nil }
        verification = nil
        object = (ready.object.handle, generation)
        return ready
    }

    /// Returns the handles of everything that is there for verifications.
    mutating func takeRemains(_ generation: UInt64) -> [TPMHandle] {
        defer { (verification, object) = (nil, nil) }
        var handles: [TPMHandle] = []
        if let (_, made, ready) = verification, made == generation {
            handles += [ready.policy.handle, ready.proof.handle, ready.object.handle]
        }
        if let (handle, made) = object, made == generation { handles.append(handle) }
        return handles
    }

    func hasProof(below parent: [UInt8], _ generation: UInt64) -> Bool {
        proof.map { $0.parent == parent && $0.generation == generation } ?? false
    }

    mutating func store(proof session: TPMSession, below parent: [UInt8], _ generation: UInt64) {
        proof = (parent, generation, session)
    }

    mutating func takeProof(below parent: [UInt8], _ generation: UInt64) -> TPMSession? {
        hasProof(below: parent, generation) ? takeProof(generation) : nil
    }

    mutating func takeProof(_ generation: UInt64) -> TPMSession? {
        defer { proof = nil }
        return proof.flatMap { $0.generation == generation ? $0.session : nil }
    }
}

extension TPMClient {
    /// Loads the sealed secret of a passcode and starts the sessions of its verification. Leaves nothing if that fails.
    mutating func prepare(
        _ record: PasscodeIndexRecord, below root: StorageRoot
    ) throws(TPMError) -> ReadyVerification {
        let area = try failing { () throws(Failure) in try record.area.encoded() }
        let object = try load(record.privatePart, publicArea: area, below: root)
        var made = [object.handle]
        do throws(TPMError) {
            let policy = try startSession(.policy, salted: root)
            made.append(policy.handle)
            let proof = try startSession(.hmac, salted: root)
            return ReadyVerification(root: root, object: object, policy: policy, proof: proof)
        } catch {
            remove(made)
            throw error
        }
    }

    /// Unseals the secret with the value of its index, in two commands. Both sessions end; the object remains.
    mutating func open(
        _ ready: ReadyVerification, _ index: PasscodeIndex, _ value: SecretBytes
    ) throws(TPMError) -> SecretBytes {
        var policy = ready.policy
        // The session belongs to this process only. It may be as old as the prompt, so that the usual time is counted from now.
        let age = max(0, clock.uptime - policy.nonceTime) / 1_000_000_000
        let proof = KeyPasscodeProof(
            session: policy.handle.number, nonce: policy.nonce, command: [], reference: [],
            expirySeconds: Self.proofSeconds + Int32(clamping: min(age, 600)))
        try prove(value, of: index, proof, in: ready.proof)
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
