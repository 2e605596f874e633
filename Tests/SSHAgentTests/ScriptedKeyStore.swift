// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Synchronization

@testable import SSHAgent

/// Keys without a daemon. A signature needs a proof, which a scripted person gives or withholds.
final class ScriptedKeyStore: SSHKeyStore {
    struct State {
        var proofs = 0
        /// Proofs that the person gave.
        var given: Set<UInt8> = []
        var revoked: Set<UInt8> = []
        var prompts: [String] = []
        /// Status that the next use of a proof fails with.
        var failure: Status?
    }

    let key: PrivateKey
    let sshKey: SSHKey
    let state = Mutex(State())
    /// Called with each prompt, on the thread that waits for the person; false refuses.
    private let person: @Sendable (ScriptedKeyStore) -> Bool

    init(person: @escaping @Sendable (ScriptedKeyStore) -> Bool = { _ in true }) throws {
        key = try .generate(.p256)
        sshKey = SSHKey(blob: SSHKeyBlob.encode(key.publicKey) ?? [], name: "work", reference: [1])
        self.person = person
    }

    func keys() throws(Failure) -> [SSHKey] { [sshKey] }

    func makeProof() throws(Failure) -> SSHProof {
        let number = state.withLock { state in
            state.proofs += 1
            return UInt8(truncatingIfNeeded: state.proofs)
        }
        guard let handle = ContextHandle([UInt8](repeating: number, count: 16)) else { throw Failure(.internalFailure) }
        return SSHProof(context: handle)
    }

    func sign(
        _ digest: [UInt8], _ key: SSHKey, _ proof: SSHProof, reason: String, for process: ProcessName?
    ) throws(Failure) -> [UInt8] {
        let number = proof.number
        let (isGiven, failure) = state.withLock { state in
            defer { state.failure = nil }
            return (state.given.contains(number), state.failure)
        }
        if let failure { throw Failure(failure) }
        if !isGiven {
            state.withLock { $0.prompts.append(reason) }
            guard person(self) else { throw Failure(.userCancel) }
            state.withLock { _ = $0.given.insert(number) }
        }
        guard !state.withLock({ $0.revoked.contains(number) }) else { throw Failure(.appCancel) }
        return try self.key.signECDSA(digest)
    }

    func revoke(_ proof: SSHProof) { state.withLock { _ = $0.revoked.insert(proof.number) } }

    var promptCount: Int { state.withLock { $0.prompts.count } }
}

extension SSHProof {
    var number: UInt8 { context.bytes.first ?? 0 }
}
