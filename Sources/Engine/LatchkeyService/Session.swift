// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// The daemon's side of one connection.
///
/// Proofs must not outlive the program that obtained them, so all that a program was granted ends with its session.
/// That includes contexts with their proofs, evaluations under way, a begun backup or migration, and the pages of a
/// long reply.
///
/// `handling(of:_:)` is the table of all requests. A request that waits for nothing is answered at once. Every other
/// one is a task of `RequestExecutor`, whose function reads from top to bottom and waits at a prompt, a queue or a full
/// send queue. So each request has exactly one last reply: what its function returns or throws.
///
/// Invariants: `caller` never changes, so a proof is used for the program that the prompt named. `proofEpoch` changes
/// whenever all proofs are revoked, so state that was obtained before a wait is compared with it afterwards. Decisions
/// about proofs are not made here: `PolicyState` makes them, and `Keychain` checks them.
package final class Session: RequestHandler {
    struct Context: Sendable {
        var proof = Authorisation.none
        /// The numbers of evaluations under way.
        var evaluations: Set<UInt64> = []
    }

    struct Watch: Sendable {
        var number: UInt64
        var end: @Sendable (Failure) -> Void
    }

    struct State: Sendable {
        var contexts: [ContextHandle: Context] = [:]
        /// Waiting environment requests, by request ID.
        var watches: [UInt64: Watch] = [:]
        /// Evaluations under way that a cancel can end, by request ID.
        var requests: [UInt64: UInt64] = [:]
        /// What follows the replies of requests, by request ID.
        var afterReply: [UInt64: @Sendable () -> Void] = [:]
        /// The export or import under way, between two of its requests.
        var backup: BackupSession?
        /// Whether an export or import is being authorised or begun.
        var isBeginningBackup = false
        /// The items of a migration that have arrived, between two of its requests.
        var receiving: ReceivedMigration?
        /// Removes an unused ticket of this session at its deadline.
        var ticketAlarm: (any Alarm)?
        /// The sessions of programs whose calls of the Secret Service are under way, by request ID.
        var delegates: [UInt64: Session] = [:]
        /// What the person has allowed programs, whose calls this session passes on, until it ends.
        var grants: [SecretGrant] = []
        /// Incremented whenever all proofs of this session are revoked.
        var proofEpoch: UInt64 = 0
        var isClosed = false
    }

    let service: Service
    /// The caller. Constant, so that a request that waits for the user is completed for the caller that the prompt
    /// named.
    let caller: Caller
    /// The app's face usage description; constant for the same reason.
    let faceUsage: String?
    /// The remaining pages of long replies.
    let pages: PageLine
    /// Whether it is for one call of the Secret Service.
    let isDelegate: Bool
    let state = Mutex(State())

    init(service: Service, caller: Caller, faceUsage: String?, pages: PageLine, isDelegate: Bool) {
        self.service = service
        self.caller = caller
        self.faceUsage = faceUsage
        self.pages = pages
        self.isDelegate = isDelegate
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    package func handle(_ id: UInt64, _ request: Request, _ answer: @escaping Answer) {
        let call = Call(id: id, send: answer)
        finish(call) { () throws(Failure) in try handling(of: request, call) }
    }

    private func handling(of request: Request, _ call: Call) throws(Failure) -> Handling {
        switch request {
        case .hello: throw Failure.secondHello
        case .status: status()
        case .createContext: .reply(try createContext())
        case .invalidateContext(let request): .reply(try invalidate(request.context))
        case .canEvaluate(let request): .reply(preflight(request.policy))
        case .evaluate(let evaluate): .waits { () async throws(Failure) in try await self.evaluate(evaluate, call) }
        case .evaluateAccessControl(let evaluate):
            .waits { () async throws(Failure) in try await self.evaluate(evaluate, call) }
        case .environment(let request):
            .waits { () async throws(Failure) in try await self.environment(unlike: request.revision, call) }
        case .addItem(let add): .waits { () async throws(Failure) in try await self.add(add, call) }
        case .copyItems(let copy): try self.copy(copy, call)
        case .updateItems(let update): .waits { () async throws(Failure) in try await self.update(update, call) }
        case .deleteItems(let request): .waits { () async throws(Failure) in try await self.delete(request.query) }
        case .listItems(let request): try list(request.query, call)
        case .listEverything: try listEverything(call)
        case .listNames: .waits { () async throws(Failure) in try await self.listNames(call) }
        case .deleteListed(let request):
            .waits { () async throws(Failure) in try await self.deleteListed(request.reference, call) }
        case .passcode(let change): .waits { () async throws(Failure) in try await self.change(change, call) }
        case .lock: .waits { () async throws(Failure) in try await self.lock() }
        case .unlock(let request):
            .waits { () async throws(Failure) in try await self.unlock(request.prompting, call) }
        case .facePermissions: .reply(facePermissions())
        case .changeFacePermission(let change): .waits { () async throws(Failure) in try await self.change(change) }
        case .simulate, .transcript: throw service.simulatesNothing
        case .exportItems(let request): .waits { () async throws(Failure) in try await self.export(request, call) }
        case .importItems(let request): .waits { () async throws(Failure) in try await self.restore(request, call) }
        case .log(let log): .waits { () async throws(Failure) in try await self.log(log) }
        case .check: .waits { () async throws(Failure) in try await self.check(call) }
        case .restoreRows: .waits { () async throws(Failure) in try await self.restoreRows(call) }
        case .acceptStore: .waits { () async throws(Failure) in try await self.acceptStore(call) }
        case .discardProtected: .waits { () async throws(Failure) in try await self.discardProtected(call) }
        case .discardForgotten: .waits { () async throws(Failure) in try await self.discardForgotten(call) }
        case .createEnclaveKey(let create):
            .waits { () async throws(Failure) in try await self.createKey(create, call) }
        case .useEnclaveKey(let use): .waits { () async throws(Failure) in try await self.useKey(use, call) }
        case .describeEnclaveKey(let request): .reply(try describeKey(request.name))
        case .beginEnrolment(let begin):
            .waits { () async throws(Failure) in try await self.beginEnrolment(begin, call) }
        case .answerEnrolment(let request):
            .waits { () async throws(Failure) in try await self.answerEnrolment(request) }
        case .proveKey(let prove): .waits { () async throws(Failure) in try await self.proveKey(prove, call) }
        case .beginMigration: .waits { () async throws(Failure) in try await self.beginMigration(call) }
        case .receiveItems(let request): .waits { () async throws(Failure) in try await self.receive(request) }
        case .mapGroups(let request):
            .waits { () async throws(Failure) in try await self.mapGroups(request.groups) }
        case .migrate(let request): .waits { () async throws(Failure) in try await self.migrate(request, call) }
        case .useSecrets(let request):
            .waits { () async throws(Failure) in try await self.useSecrets(request, call) }
        }
    }

    package func cancel(_ id: UInt64) {
        let (evaluation, watch, delegate) = state.withLock { state in
            (state.requests[id], state.watches.removeValue(forKey: id), state.delegates[id])
        }
        delegate?.cancel(id)
        if let evaluation { service.authority.withdraw(evaluation, .appCancel) }
        if let watch, service.environments.forget(watch.number) {
            watch.end(Failure(.appCancel, "The app cancelled the request."))
        }
    }

    /// Ends all requests, contexts and evaluations of this connection (behaviour LA-32).
    package func close() {
        let (evaluations, watches, delegates) = state.withLock { state in
            state.isClosed = true
            state.contexts = [:]
            state.grants = []
            state.backup = nil
            state.receiving = nil
            state.ticketAlarm = nil
            return (Array(state.requests.values), state.watches, Array(state.delegates.values))
        }
        for delegate in delegates { delegate.close() }
        service.tickets.remove(of: self)
        pages.close()
        for watch in watches.values where service.environments.forget(watch.number) {
            watch.end(Refusal.connectionEnded)
        }
        for evaluation in evaluations { service.authority.withdraw(evaluation, .systemCancel) }
    }

    package var welcome: Reply {
        .welcome(Reply.Welcome(tier: service.parts.tier, processID: service.parts.processID))
    }

    func keychain() throws(Failure) -> Keychain { try service.keychain.get() }
}
