// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// The use that a proof may be reused for: the same key, the same host and user, the same process.
package struct SSHReuse: Hashable, Sendable {
    /// The public key, as a blob.
    package var key: [UInt8]
    /// The server's key, as a blob.
    package var host: [UInt8]
    package var user: String
    package var processID: Int32
    /// The start time of the process, so that another one with the same id does not count as the same.
    package var startTime: UInt64
    /// The executable of the process: another program that it executed does not count as the same.
    package var executable: ExecutableFile
}

/// Has digests signed, one prompt for each unless a proof may be reused, and dismisses the prompt of a program that has
/// gone.
package final class SSHSigner: Sendable {
    private struct StoredProof: Sendable {
        var proof: SSHProof
        /// In nanoseconds of `now`.
        var end: Int64
    }

    private let store: any SSHKeyStore
    private let reuseSeconds: Int64
    private let now: @Sendable () -> Int64
    private let proofs = Mutex<[SSHReuse: StoredProof]>([:])

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - reuseSeconds: how long a proof may be reused; 0 for never.
    ///   - now: a monotonic clock, in nanoseconds.
    package init(_ store: any SSHKeyStore, reuseSeconds: Int64, now: @escaping @Sendable () -> Int64) {
        (self.store, self.reuseSeconds, self.now) = (store, reuseSeconds, now)
    }

    /// Signs a SHA-256 digest, and returns r ‖ s.
    ///
    /// - Parameters:
    ///   - process: the program on whose terminal a prompt is shown, if it has one; nil for this process.
    ///   - reuse: what the proof may be reused for; nil if this signature always needs a new one.
    ///   - wait: waits for the end of the descriptor or of the program, and returns false in the second case.
    package func sign(
        _ digest: [UInt8], _ key: SSHKey, reason: String, for process: ProcessName?, reuse: SSHReuse?,
        wait: (Descriptor) -> Bool
    ) throws(Failure) -> [UInt8] {
        let reuse = reuseSeconds > 0 ? reuse : nil
        revokeExpired()
        if let reuse, let old = proofs.withLock({ $0[reuse] }) {
            do throws(Failure) {
                return try attempt(digest, key, old.proof, reason, process, wait)
            } catch {
                forget(reuse)
                // The daemon was started again: the proof is gone, and the person is asked.
                guard error.status == .invalidContext else { throw error }
            }
        }
        let proof = try store.makeProof()
        var isStored = false
        defer { if !isStored { store.revoke(proof) } }
        let signature = try attempt(digest, key, proof, reason, process, wait)
        if let reuse { isStored = store(proof, for: reuse) }
        return signature
    }

    /// Revokes every proof.
    package func forgetProofs() {
        let all = proofs.withLock { proofs in
            defer { proofs = [:] }
            return proofs
        }
        for entry in all.values { store.revoke(entry.proof) }
    }

    private func store(_ proof: SSHProof, for reuse: SSHReuse) -> Bool {
        let end = now() + reuseSeconds * 1_000_000_000
        return proofs.withLock { proofs in
            guard proofs[reuse] == nil, proofs.count < SSHAgentLimits.reusedProofs else { return false }
            proofs[reuse] = StoredProof(proof: proof, end: end)
            return true
        }
    }

    private func forget(_ reuse: SSHReuse) {
        if let entry = proofs.withLock({ $0.removeValue(forKey: reuse) }) { store.revoke(entry.proof) }
    }

    private func revokeExpired() {
        let now = now()
        let expired = proofs.withLock { proofs in
            let expired = proofs.filter { $0.value.end <= now }
            for reuse in expired.keys { proofs[reuse] = nil }
            return expired
        }
        for entry in expired.values { store.revoke(entry.proof) }
    }

    /// Signs on another thread, so that this one can notice that the program has gone and dismiss the prompt.
    private func attempt(
        _ digest: [UInt8], _ key: SSHKey, _ proof: SSHProof, _ reason: String, _ process: ProcessName?,
        _ wait: (Descriptor) -> Bool
    ) throws(Failure) -> [UInt8] {
        let (near, far): (Descriptor, Descriptor)
        do throws(SystemError) {
            (near, far) = try Sockets.pair()
        } catch {
            throw Failure(error, "A signature cannot be waited for")
        }
        let shared = SharedResult()
        Processes.detachThread { [store] in
            shared.set(
                Result { () throws(Failure) in try store.sign(digest, key, proof, reason: reason, for: process) })
            Sockets.shutDown(far)
        }
        guard wait(near), let signature = shared.value else {
            store.revoke(proof)
            throw Failure(.appCancel, "The program that asked has ended.")
        }
        return try signature.get()
    }
}

/// The result of a thread.
private final class SharedResult: Sendable {
    private let result = Mutex<Result<[UInt8], Failure>?>(nil)

    var value: Result<[UInt8], Failure>? { result.withLock { $0 } }

    func set(_ value: Result<[UInt8], Failure>) { result.withLock { $0 = value } }
}
