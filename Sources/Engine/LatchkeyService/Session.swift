// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// The requests, contexts and evaluations of one connection; a session ends with its connection.
package final class Session: RequestHandler {
    struct Context: Sendable {
        /// The proofs of the context.
        var proof = Authorisation.none
        /// The numbers of evaluations under way.
        var evaluations: Set<UInt64> = []
    }

    struct Watch: Sendable {
        var number: UInt64
        var answer: Answer
    }

    struct State: Sendable {
        var contexts: [ContextHandle: Context] = [:]
        /// Waiting environment requests, by request ID.
        var watches: [UInt64: Watch] = [:]
        /// Evaluations under way that a cancel can end, by request ID.
        var requests: [UInt64: UInt64] = [:]
        /// The export or import under way, between two of its requests.
        var backup: BackupSession?
        /// Whether an export or import is being authorised or begun.
        var isBeginningBackup = false
        /// The items of a migration that have arrived, between two of its requests.
        var receiving: ReceivedMigration?
        /// Removes an unused ticket of this session at its deadline.
        var ticketAlarm: (any Alarm)?
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
    let state = Mutex(State())

    init(
        service: Service, caller: Caller, faceUsage: String?,
        whenRoom: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.service = service
        self.caller = caller
        self.faceUsage = faceUsage
        pages = PageLine(service.parts.background, whenRoom: whenRoom)
    }

    /// Whether the connection has ended.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    package func handle(_ id: UInt64, _ request: Request, _ answer: @escaping Answer) {
        let answer = recordingForeignGroups(answer)
        do throws(Failure) {
            switch request {
            case .hello: throw Failure.secondHello
            case .status: status(answer)
            case .createContext: answer(try createContext())
            case .invalidateContext(let handle): answer(try invalidate(handle))
            case .canEvaluate(let policy): answer(preflight(policy))
            case .evaluate(let evaluate): try self.evaluate(id, evaluate, answer)
            case .evaluateRule(let evaluate): try self.evaluate(id, evaluate, answer)
            case .environment(let seen): environment(id, unlike: seen, answer)
            case .addItem(let add): try self.add(id, add, answer)
            case .copyItems(let copy): try self.copy(id, copy, answer)
            case .updateItems(let update): try self.update(id, update, answer)
            case .deleteItems(let query): try delete(query, answer)
            case .listItems(let query): try list(query, answer)
            case .listEverything: try listEverything(answer)
            case .listNames: try listNames(id, answer)
            case .passcode(let change): try self.change(id, change, answer)
            case .lock: try lock(answer)
            case .unlock(let prompting): try unlock(id, prompting, answer)
            case .facePermissions: answer(facePermissions())
            case .changeFacePermission(let change): try self.change(change, answer)
            case .simulate, .transcript: throw service.simulatesNothing
            case .exportItems(let request): try export(id, request, answer)
            case .importItems(let request): try restore(id, request, answer)
            case .log(let log): try self.log(log, answer)
            case .check: try check(answer)
            case .restoreRows: try restoreRows(answer)
            case .acceptStore: try acceptStore(id, answer)
            case .discardProtected: try discardProtected(id, answer)
            case .discardForgotten: try discardForgotten(id, answer)
            case .createEnclaveKey(let create): try createKey(id, create, answer)
            case .useEnclaveKey(let use): useKey(id, use, answer)
            case .describeEnclaveKey(let name): answer(try describeKey(name))
            case .beginEnrolment(let begin): try beginEnrolment(id, begin, answer)
            case .answerEnrolment(let request): try answerEnrolment(request, answer)
            case .proveKey(let prove): proveKey(id, prove, answer)
            case .beginMigration: try beginMigration(id, answer)
            case .receiveItems(let request): try receive(request, answer)
            case .mapGroups(let groups): try mapGroups(groups, answer)
            case .migrate(let request): try migrate(id, request, answer)
            }
        } catch {
            answer(.failure(error))
        }
    }

    package func cancel(_ id: UInt64) {
        let (evaluation, watch) = state.withLock { ($0.requests[id], $0.watches.removeValue(forKey: id)) }
        if let evaluation { service.authority.withdraw(evaluation, .appCancel) }
        if let watch, service.environments.forget(watch.number) {
            watch.answer(.failure(Failure(.appCancel, "The app cancelled the request.")))
        }
    }

    /// Ends all requests, contexts and evaluations of this connection (behaviour LA-32).
    package func close() {
        let (evaluations, watches) = state.withLock { state in
            state.isClosed = true
            state.contexts = [:]
            state.backup = nil
            state.receiving = nil
            state.ticketAlarm = nil
            return (Array(state.requests.values), state.watches)
        }
        service.tickets.remove(of: self)
        pages.clear()
        for watch in watches.values { service.environments.forget(watch.number) }
        for evaluation in evaluations { service.authority.withdraw(evaluation, .systemCancel) }
    }

    package var welcome: Reply {
        .welcome(Reply.Welcome(tier: service.parts.tier, processID: service.parts.processID))
    }

    func keychain() throws(Failure) -> Keychain { try service.keychain.get() }
}
