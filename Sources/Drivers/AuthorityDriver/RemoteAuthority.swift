// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// The authority of one user in `latchkey-authd`, as `latchkeyd` uses it.
///
/// It stores what the authority sent last and forwards every request over the `AuthorityLink` that all users share. It
/// makes no decision: a grant is a token whose code the service verifies with the key of the connection.
///
/// Without a connection there is no sensor and every request is refused. After a new connection the user is attached
/// again with the state in `core`, so the authority learns about a passcode or a lock that it missed.
package final class RemoteAuthority: AuthenticationAuthority {
    private struct WeakClient: Sendable { weak var client: (any KeychainService)? }

    private struct Core: Sendable {
        /// The state that the authority sent last on this connection; nil before the first one.
        var known: StoreCall.State?
        var client = WeakClient()
        var observer: (@Sendable () -> Void)?
        /// What is called for failed tries of evaluations, by their challenges.
        var tries: [[UInt8]: @Sendable (TriedProof) -> Void] = [:]
        /// The challenges of evaluations that ended, oldest first. A passcode can be verified until after the end, and
        /// is recorded with the program that asked.
        var ended: [[UInt8]] = []

        mutating func end(_ challenge: [UInt8]) {
            ended.append(challenge)
            if ended.count > RemoteAuthority.endedEvaluations { tries[ended.removeFirst()] = nil }
        }
        /// What is sent to the authority when it is attached.
        var isPasscodeSet = false
        var isLocked = false
        /// The records of the recovery codes, which the authority gets back.
        var recoveryCopy: [UInt8] = []
    }
    private let core = Mutex(Core())
    private static let endedEvaluations = 16
    let link: AuthorityLink
    let userID: UInt32
    private let clock: any Clock
    /// The recovery of the root key, which also stores what the authority has of recovery codes; nil in tiers without one.
    private let recovery: (any RecoverableVault)?

    package init(userID: UInt32, link: AuthorityLink, clock: any Clock, recovery: (any RecoverableVault)?) {
        (self.userID, self.link, self.clock, self.recovery) = (userID, link, clock, recovery)
    }

    private var client: (any KeychainService)? { core.withLock { $0.client.client } }

    /// Without a connection there is no sensor and no permission, so that nothing is offered that cannot be done.
    package var state: PolicyState {
        var state = core.withLock { core in
            PolicyState(
                core.known?.authority
                    ?? AuthorityState(sensor: .absent, isPasscodeSet: core.isPasscodeSet, isLocked: core.isLocked))
        }
        state.now = clock.uptime
        return state
    }

    package var isStateKnown: Bool { core.withLock { $0.known != nil } }

    package var shownPrompts: [StatusReport.ShownPrompt] { core.withLock { $0.known?.prompts ?? [] } }

    package var passcodeKind: PasscodeKind? { core.withLock { $0.known?.passcodeKind } }

    package var connection: [UInt8] { link.connection?.identifier ?? [] }

    package func code(of token: AuthToken) throws(Failure) -> [UInt8] {
        guard let connection = link.connection else { throw AuthorityLink.disconnected }
        return try connection.key.authenticationCode(token.authenticated)
    }

    // MARK: - Attaching

    package func attach(_ client: any KeychainService, isPasscodeSet: Bool, isLocked: Bool) {
        var copy: [UInt8] = []
        // Without it the authority has what it stores itself.
        link.log.recording(.recordNotRead) { () throws(Failure) in copy = try recovery?.copy() ?? [] }
        core.withLock { [copy] core in
            core.recoveryCopy = copy
            core.client.client = client
            core.isPasscodeSet = isPasscodeSet
            core.isLocked = isLocked
        }
        link.add(self, of: userID)
        let call = attachCall
        // Without an answer the authority counts as disconnected; a new connection attaches the user again.
        link.log.recording(.authorityLost) { () throws(Failure) in
            if case .failure(let failure) = try link.call(call) { throw failure }
        }
    }

    private var attachCall: AuthorityCall {
        core.withLock { core in
            .attach(
                AuthorityCall.Attach(
                    userID: userID, isPasscodeSet: core.isPasscodeSet, isLocked: core.isLocked,
                    recoveryCopy: core.recoveryCopy))
        }
    }

    func attach() { _ = link.begin(attachCall) { _ in } }

    func lost() {
        core.withLock { $0.known = nil }
        client?.authorityWasLost()
        changed()
    }

    // MARK: - Evaluations

    package func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, failed: @escaping @Sendable (TriedProof) -> Void,
        _ completion: @escaping @Sendable (Result<AuthenticationGrant, Failure>) -> Void
    ) -> UInt64 {
        var request = request
        request.prompting = request.prompting.clipped
        let challenge = request.challenge
        core.withLock { $0.tries[challenge] = failed }
        return link.begin(.evaluate(request)) { [self] result in
            core.withLock { $0.end(challenge) }
            switch result {
            case .success(.granted(let grant)): completion(.success(grant))
            case .success(.failure(let failure)): completion(.failure(failure))
            // The end of the connection is described by its status.
            case .failure(let failure): completion(.failure(Failure(failure.status)))
            case .success(.done), .success(.identity), .success(.keyBinding), .success(.approved):
                completion(.failure(Failure(.internalFailure)))
            }
        }
    }

    package func withdraw(_ evaluation: UInt64, _ status: Status) {
        _ = link.begin(.withdraw(AuthorityCall.Withdraw(evaluation: evaluation, status: status))) { _ in }
    }

    // MARK: - Changes

    package func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?) {
        let kind: AuthorityCall.Change.Kind
        switch change {
        case .locked:
            core.withLock { $0.isLocked = true }
            kind = .locked
        case .unlocked: kind = .unlocked
        case .background(let isBehind): kind = isBehind ? .background : .foreground
        // latchkey-authd reads the sessions from logind, and does not accept them from latchkeyd.
        case .sessionLocked, .sessionUnlocked, .biometrySessions:
            then?(Failure(.notPermitted, "latchkey-authd determines the login sessions itself."))
            return
        case .passcodeExists(let exists):
            core.withLock { $0.isPasscodeSet = exists }
            kind = exists ? .passcodeCommitted : .passcodeRemoved
        case .passcodeChanged: kind = .passcodeCommitted
        case .refusedWhileLocked: kind = .refusedWhileLocked
        }
        _ = link.begin(.change(AuthorityCall.Change(userID: userID, kind: kind))) { [self] result in
            let failure: Failure?
            switch result {
            case .success(.done):
                if case .unlocked = change { core.withLock { $0.isLocked = $0.known?.authority.isLocked ?? false } }
                failure = nil
            case .success(.failure(let refusal)), .failure(let refusal): failure = refusal
            case .success: failure = AuthorityLink.otherReply
            }
            if let failure { link.log.record(.authorityNotTold, failure) }
            then?(failure)
        }
    }

    /// The counters are files of `latchkey-authd`, which stores them before every passcode.
    package func persistCounters() throws(Failure) {}

    package func setFacePermission(
        _ application: String, _ isAllowed: Bool?, _ done: @escaping @Sendable (Failure?) -> Void
    ) {
        let change = AuthorityCall.SetFacePermission(userID: userID, application: application, isAllowed: isAllowed)
        _ = link.begin(.setFacePermission(change)) { result in
            switch result {
            case .success(.done): done(nil)
            case .success(.failure(let failure)), .failure(let failure): done(failure)
            case .success: done(AuthorityLink.otherReply)
            }
        }
    }

    package func observe(_ observer: @escaping @Sendable () -> Void) { core.withLock { $0.observer = observer } }

    private func changed() { core.withLock { $0.observer }?() }

    // MARK: - Calls of the authority

    func take(_ state: StoreCall.State) {
        core.withLock { $0.known = state }
        changed()
    }

    func counted(_ counters: PolicyCounters) { client?.counted(counters) }

    func countersWereLost() {
        link.log.recording(.recordNotRead) { () throws(Failure) in try client?.countersWereLost() }
    }

    /// A try is recorded in any case: a program that ends many requests loses its name in the entry, and no lockout.
    func tryFailed(_ failed: StoreCall.TryFailed) {
        if let record = core.withLock({ $0.tries[failed.challenge] }) {
            record(failed.proof)
        } else {
            client?.tryFailed(failed.proof)
        }
    }

    func refused(_ refused: StoreCall.Refused) { client?.refused(refused.source, count: refused.count) }

    func adopt(_ set: EnrolmentSet?) -> StoreReply {
        reply { (client) throws(Failure) in
            try client.adopt(set)
            return .done
        }
    }

    func open(_ open: StoreCall.Open) -> StoreReply {
        reply { (client) throws(Failure) in
            .opened(try client.openSlot(open.slotKey, passcodeID: open.passcodeID))
        }
    }

    func replaceSlot(_ slot: StoreCall.Open) -> StoreReply {
        reply { (client) throws(Failure) in
            try client.replaceSlot(slot.slotKey, passcodeID: slot.passcodeID)
            return .done
        }
    }

    func recoveryOpens(_ recovery: StoreCall.TryRecovery) -> StoreReply {
        reply { (_) throws(Failure) in
            guard let vault = self.recovery else {
                throw Failure(.notPermitted, "In this tier there is no recovery code for the keychain.")
            }
            return .opened(try vault.opens(recovery.rootKey))
        }
    }

    func storeRecovery(_ copy: [UInt8]) -> StoreReply {
        reply { (_) throws(Failure) in
            // Without a vault that a code opens, a copy would be of no use.
            try recovery?.persist(copy: copy)
            core.withLock { $0.recoveryCopy = copy }
            return .done
        }
    }

    func applySessionLock(_ lock: StoreCall.SessionLock) -> StoreReply {
        reply { (client) throws(Failure) in
            try client.applySessionLock(isLocked: lock.isLocked)
            return .done
        }
    }

    private func reply(_ body: (any KeychainService) throws(Failure) -> StoreReply) -> StoreReply {
        guard let client else { return .failure(Failure(.storeUnreadable, "The keychain of the user is not open.")) }
        do throws(Failure) { return try body(client) } catch { return .failure(error) }
    }
}

// Approvals of uses of keys: `latchkey-authd` gives them, because it saw the person.

extension RemoteAuthority {
    package func binding(storeID: [UInt8], _ accessControl: AccessControl) throws(Failure) -> KeyBinding {
        let call = AuthorityCall.BindKey(userID: userID, storeID: storeID, accessControl: accessControl)
        switch try link.call(.bindKey(call)) {
        case .keyBinding(let binding): return binding
        case .failure(let failure): throw failure
        default: throw AuthorityLink.otherReply
        }
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        var request = request
        request.tokens = request.tokens.suffix(Limits.approvalTokens)
        switch try link.call(.approve(AuthorityCall.Approve(userID: userID, request: request))) {
        case .approved(let approval): return approval
        case .failure(let failure): throw failure
        default: throw AuthorityLink.otherReply
        }
    }
}
