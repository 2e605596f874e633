// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization
import TPMProtocol

/// Passcodes that a TPM verifies: an index that counts wrong ones, and a sealed secret that only the right one opens.
package final class TPMPasscodeChip: PasscodeChip {
    private static let secretBytes = 32
    private let chip: TPMChip
    /// The same TPM beside the sessions of uses that another process has begun.
    private let proofs: TPMChip
    /// The same TPM, if something can be prepared in it.
    private let preparing: TPMChip?
    private let random: any RandomSource
    private let prepared = Mutex(PreparedPasscode())
    /// Held from the first command of an operation to its last: the TPM has three places, which the sessions of a preparation
    /// and those of a change of the passcode need both.
    private let turn = Mutex(())

    /// Creates the driver; does not access the TPM.
    package init(_ chip: TPMChip, random: any RandomSource) {
        (self.chip, self.random) = (chip, random)
        (proofs, preparing) = (chip, nil)
    }

    /// Creates the driver of a TPM whose commands another process passes on; does not access it.
    package init(
        carriedBy carrier: any CommandCarrier, clock: any Clock, random: any RandomSource,
        ownerPassword: SecretBytes? = nil
    ) {
        self.random = random
        chip = TPMChip(CarriedTPM(carrier), clock: clock, random: random, ownerPassword: ownerPassword)
        proofs = TPMChip(CarriedTPM(carrier, for: .proof), clock: clock, random: random)
        preparing = TPMChip(CarriedTPM(carrier, for: .preparation), clock: clock, random: random)
    }

    package func plan() throws(Failure) -> ChipPasscodePlan {
        let resetKey = try random.bytes(32)
        let (_, point) = try Self.reset(resetKey)
        let handle = try use { (_, client) throws(TPMError) in
            do throws(TPMError) {
                return try client.freeIndex(in: PasscodeIndex.handles)
            } catch {
                // `TPM2_GetCapability` itself never refuses for want of room.
                guard error.kind == .indexMemory else { throw error }
                throw .failed(Self.noHandle(error))
            }
        }
        return ChipPasscodePlan(
            record: try PasscodeIndexPlan(handle: handle, resetPoint: point).encoded(), key: resetKey)
    }

    private static func noHandle(_ cause: TPMError) -> Failure {
        Failure(
            .vaultUnavailable,
            "The TPM has no room for the passcode: each handle that Latchkey uses for passcodes has an index.",
            hint: "An administrator removes users that are gone: latchkey admin remove-user USER",
            cause: ChipHasNoRoom(answer: cause))
    }

    private static func reset(_ key: SecretBytes) throws(Failure) -> (ApprovalSigner, TPMPoint) {
        guard let reset = ApprovalSigner(key), let point = TPMPoint(reset.publicKey) else {
            throw Failure(.internalFailure, "The random bytes are no key.", hint: "Try again.")
        }
        return (reset, point)
    }

    /// Defines the index and removes it again: TPM 2.0 has no property that tells how much room is left for indices.
    package func checkRoom(for plan: ChipPasscodePlan) throws(Failure) {
        let index = try PasscodeIndexPlan(plan.record).index()
        try use { (_, client) throws(TPMError) in
            let root = try client.storageRoot(named: nil)
            try client.define(index.area, in: root)
            try client.undefine(index.area, in: root)
        }
    }

    package func create(_ plan: ChipPasscodePlan, _ value: SecretBytes) throws(Failure) -> NewChipPasscode {
        let (reset, point) = try Self.reset(plan.key)
        let handle = try PasscodeIndexPlan(plan.record).handle
        let secret = try random.bytes(Self.secretBytes)
        let hidden = try PasscodeIndexRecord.hide(plan.key, under: secret, random)
        let record = try use { (_, client) throws(TPMError) in
            let root = try client.storageRoot(named: nil)
            let index = try failing { () throws(Failure) in try PasscodeIndex(at: handle, resetBy: point) }
            try client.define(index.area, in: root)
            do throws(TPMError) {
                try client.set(value, in: index, by: reset, in: root)
                let policy = try failing { () throws(Failure) in try index.policy() }
                let (area, privatePart) = try client.seal(secret, below: root, policy: policy)
                let record = PasscodeIndexRecord(
                    parent: root.entity.name, handle: handle, resetPoint: point, area: area, privatePart: privatePart,
                    hiddenResetKey: hidden)
                // Shows in an authentic response that the index has this value, whatever the carrier did.
                let ready = try client.prepare(record)
                defer { client.remove(ready) }
                guard try client.open(ready, value) == secret else { throw TPMError.failed(TPMReader.malformed) }
                return record
            } catch {
                // The first error says more. Without its record an index takes room, and opens nothing.
                try? client.undefine(index.area, in: root)
                throw error
            }
        }
        return NewChipPasscode(record: try record.encoded(), secret: secret)
    }

    package func open(_ record: [UInt8], _ value: SecretBytes) throws(Failure) -> SecretBytes? {
        try turn.withLock { (_) throws(Failure) in try openInTurn(record, value) }
    }

    private func openInTurn(_ record: [UInt8], _ value: SecretBytes) throws(Failure) -> SecretBytes? {
        if let ready = prepared.withLock({ $0.takeVerification(of: record) }) {
            return try use(chip) { (_, client) throws(TPMError) in try verify(value, ready, &client) }
        }
        let decoded = try PasscodeIndexRecord(record)
        removePrepared()
        return try use(chip) { (_, client) throws(TPMError) in
            let ready = try client.prepare(decoded)
            let secret = try verify(value, ready, &client)
            if secret != nil { client.remove([ready.object.handle]) }
            return secret
        }
    }

    /// Verifies a value with what is ready. After a miss or a failure nothing of that remains.
    private func verify(
        _ value: SecretBytes, _ ready: ReadyVerification, _ client: inout TPMClient
    ) throws(TPMError) -> SecretBytes? {
        do throws(TPMError) {
            return try client.open(ready, value)
        } catch {
            client.remove(ready)
            prepared.withLock { $0.object = nil }
            guard error.isGone || error.isWrongValue else { throw error }
            // Neither answer has the code of a session: the count has one, and shows whether the TPM has found the value wrong.
            // The value is not sent again: a carrier gets one command for each entry.
            let count = try client.count(of: ready.index, in: ready.root).wrong
            guard count > ready.wrong else {
                throw .failed(error.isGone ? Self.preparationIsGone(error) : Self.notVerified(error))
            }
            return nil
        }
    }

    private static func preparationIsGone(_ cause: TPMError) -> Failure {
        Failure(
            .vaultUnavailable, "What was loaded into the TPM for the passcode is not there any more.",
            hint: "Type the passcode again.", cause: cause)
    }

    private static func notVerified(_ cause: TPMError) -> Failure {
        Failure(
            .vaultUnavailable, "The TPM is said to have refused the passcode, but it has not counted a wrong one.",
            hint: "A program between latchkey-authd and the TPM changes responses.", cause: cause)
    }

    package func change(_ record: [UInt8], secret: SecretBytes, to value: SecretBytes) throws(Failure) {
        let record = try PasscodeIndexRecord(record)
        let (index, reset) = (try record.index(), try record.resetKey(secret))
        try use { (_, client) throws(TPMError) in
            let root = try client.storageRoot(named: record.parent)
            try client.change(index, to: value, by: reset, in: root)
        }
    }

    package func verifier(of record: [UInt8]) throws(Failure) -> [UInt8] {
        try PasscodeIndexRecord(record).index().entity().name
    }

    package func prove(_ record: [UInt8], _ value: SecretBytes, _ proof: KeyPasscodeProof) throws(Failure) -> Bool {
        // With an empty nonce the proof would be valid in every session, and without a digest for every command.
        _ = try ApprovalText(
            nonce: proof.nonce, expirySeconds: proof.expirySeconds, command: proof.command, reference: proof.reference)
        let decoded = try PasscodeIndexRecord(record)
        let index = try decoded.index()
        return try turn.withLock { (_) throws(Failure) in
            var isRight = false
            // The TPM may count from another number now than when a verification was prepared, and after a failure what is
            // prepared may be gone.
            defer { if isRight { prepared.withLock { $0.restartCount(of: record) } } else { removePrepared() } }
            isRight = try proveInTurn(decoded, index, value, proof)
            return isRight
        }
    }

    private func proveInTurn(
        _ record: PasscodeIndexRecord, _ index: PasscodeIndex, _ value: SecretBytes, _ proof: KeyPasscodeProof
    ) throws(Failure) -> Bool {
        try use(proofs) { (memory, client) throws(TPMError) -> Bool in
            do throws(TPMError) {
                let ready = prepared.withLock { $0.takeProof(below: record.parent) }
                let session =
                    if let ready { ready } else { try Self.proofSession(below: record.parent, &memory, &client) }
                try client.prove(value, of: index, proof, in: session)
                return true
            } catch {
                // Another key may be at the handle now.
                memory.forgetRoot()
                guard error.isWrongValue else { throw error }
                return false
            }
        }
    }

    /// Starts the session of a proof. The salt is encrypted for the public key whose name is in the record, and only the TPM
    /// that has its private key can use the session. So a public key whose name was compared on this connection is not read
    /// again.
    private static func proofSession(
        below parent: [UInt8], _ memory: inout TPMMemory, _ client: inout TPMClient
    ) throws(TPMError) -> TPMSession {
        try memory.withRoot(parent, &client) { (root, client) throws(TPMError) in
            try client.startSession(.hmac, salted: root)
        }
    }

    package func checkAnswers(_ record: [UInt8]) throws(Failure) {
        guard !prepared.withLock({ $0.isReady(for: record) }) else { return }
        let record = try PasscodeIndexRecord(record)
        let index = try record.index()
        try use { (_, client) throws(TPMError) in
            _ = try client.count(of: index, in: client.storageRoot(named: record.parent))
        }
    }

    package func prepare(_ record: [UInt8], forKeys: Bool) throws(Failure) {
        guard let preparing else { return }
        let decoded = try PasscodeIndexRecord(record)
        try turn.withLock { (_) throws(Failure) in
            if !prepared.withLock({ $0.isReady(for: record) }) {
                removePrepared()
                try use(preparing) { (_, client) throws(TPMError) in
                    let ready = try client.prepare(decoded)
                    prepared.withLock { $0.store(ready, of: record) }
                }
            }
            if forKeys { try prepareProof(below: decoded.parent) }
        }
    }

    private func prepareProof(below parent: [UInt8]) throws(Failure) {
        try use(proofs) { (memory, client) throws(TPMError) in
            guard !prepared.withLock({ $0.hasProof(below: parent) }) else { return }
            removeProof(&client)
            let session = try Self.proofSession(below: parent, &memory, &client)
            prepared.withLock { $0.store(proof: session, below: parent) }
        }
    }

    private func removeProof(_ client: inout TPMClient) {
        if let session = prepared.withLock({ $0.takeProof() }) { client.forgetSession(session) }
    }

    package func endPreparation() { turn.withLock { _ in removePrepared() } }

    private func removePrepared() {
        let isEmpty = prepared.withLock { $0.isEmpty }
        guard !isEmpty else { return }
        // What cannot be removed now is removed with the connection.
        try? use(chip) { (_, client) throws(TPMError) in
            client.remove(prepared.withLock { $0.takeRemains() })
        }
        // The same.
        try? use(proofs) { (_, client) throws(TPMError) in removeProof(&client) }
    }

    package func remove(_ record: [UInt8]) throws(Failure) {
        let index = try PasscodeIndexPlan(anyOf: record).index()
        try use { (_, client) throws(TPMError) in
            try client.undefine(index.area, in: client.storageRoot(named: nil))
        }
    }

    /// Uses the TPM for something that was not prepared, with all its places.
    private func use<R: Sendable>(
        _ body: (inout TPMMemory, inout TPMClient) throws(TPMError) -> R
    ) throws(Failure) -> R {
        try turn.withLock { (_) throws(Failure) in
            removePrepared()
            return try use(chip, body)
        }
    }

    private func use<R: Sendable>(
        _ chip: TPMChip, _ body: (inout TPMMemory, inout TPMClient) throws(TPMError) -> R
    ) throws(Failure) -> R {
        try chip.use { (memory, client) throws(TPMError) in
            memory.forgetKeys(&client)
            do throws(TPMError) { return try body(&memory, &client) } catch { throw error.ofPasscode }
        }
    }
}

extension TPMClient {
    /// Gives a new index its value. It is blocked from its first write until it has the value, so that nothing is
    /// accepted that the carrier could have chosen when it was defined.
    fileprivate mutating func set(
        _ value: SecretBytes, in index: PasscodeIndex, by reset: ApprovalSigner, in root: StorageRoot
    ) throws(TPMError) {
        try write(PasscodeCount(wrong: PasscodeIndex.limit), to: index, isWritten: false, by: reset, in: root)
        try change(index, to: value, by: reset, in: root)
        try write(PasscodeCount(wrong: 0), to: index, by: reset, in: root)
    }
}

extension TPMError {
    /// Whether something that the command names is said to be gone.
    fileprivate var isGone: Bool {
        guard case .refused(let code, _) = self else { return false }
        return code.isGone
    }

    /// Whether the TPM is said to have refused the value of an index, and not a password of something else.
    fileprivate var isWrongValue: Bool {
        guard case .refused(let code, .policySecret) = self else { return false }
        return code.kind == .badAuthorization || code.kind == .authorizationFailed
    }

    fileprivate var ofPasscode: TPMError {
        switch self {
        case .refused(let code, let command): .failed(passcodeFailure(code.kind, command))
        case .failed(let failure) where failure.status == .tpmReplaced: Self.replaced(failure)
        case .failed(let failure) where failure.status == .enclaveUnavailable:
            .failed(Failure(.vaultUnavailable, failure.message, hint: failure.hint, cause: failure))
        case .failed: self
        }
    }

    private func passcodeFailure(_ kind: TPMResponseCode, _ command: TPMCommand) -> Failure {
        switch (command, kind) {
        // The caller tells a wrong value from other refusals before this.
        case (.policySecret, .authorizationUnavailable):
            Failure(
                .passcodeDelayed,
                "The TPM accepts no passcode any more after \(PasscodeIndex.limit) wrong ones in a row.",
                hint: "Replace the passcode with the recovery code: latchkey recover", cause: self)
        case (.policySecret, .handleGone), (.nvRead, .handleGone), (.load, .integrity):
            Failure(
                .tpmReplaced, "What the TPM stored for the passcode was removed from it, or the TPM was cleared.",
                hint: "Replace the passcode with the recovery code: latchkey recover", cause: self)
        case (.nvDefineSpace, .indexMemory):
            Failure(
                .vaultUnavailable,
                "The TPM has no room for the passcode: its non-volatile memory is full (TPM_RC_NV_SPACE).",
                hint: "An administrator lists the indices with tpm2_getcap handles-nv-index, and removes one that "
                    + "nothing uses any more with tpm2_nvundefine. Then try again.",
                cause: ChipHasNoRoom(answer: self))
        case (.nvDefineSpace, .attributes), (.nvDefineSpace, .value):
            Failure(
                .vaultUnavailable, "The TPM is too old to count wrong passcodes itself.",
                hint: "Use tier file. Private keys can be in this TPM there: enclave = tpm", cause: self)
        default: Failure(.vaultUnavailable, failure.message, hint: failure.hint, cause: self)
        }
    }

    private static func replaced(_ cause: Failure) -> TPMError {
        .failed(
            Failure(
                .tpmReplaced, "The passcode was set with another TPM, or this TPM was cleared since then.",
                hint: "Use the TPM that it was set with, or the recovery code: latchkey recover", cause: cause))
    }
}
