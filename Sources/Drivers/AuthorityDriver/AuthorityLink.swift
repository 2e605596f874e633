// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The connection of `latchkeyd` to `latchkey-authd`, for the users that it serves.
///
/// Its welcome message has the key with which tokens are verified, so a proof is worth nothing on another connection.
/// Calls in both directions have numbers: `Connection.calls` matches the replies of the authority, and calls of the
/// authority are passed to the `RemoteAuthority` of their user.
///
/// When the connection ends, all evaluations are refused with `systemCancel` and all proofs are void; a new connection
/// is made with back-off, and every user is attached again.
package final class AuthorityLink: Sendable {
    /// Makes a connection.
    ///
    /// - Parameters:
    ///   - received: called with each frame, one after the other, until `ended`; false means that the connection must
    ///     end.
    ///   - ended: called once, when the connection has ended.
    /// - Returns: a function that sends a frame.
    package typealias Connect =
        @Sendable (
            _ received: @escaping @Sendable (SecretBytes) -> Bool, _ ended: @escaping @Sendable () -> Void
        ) throws(Failure) -> @Sendable (SecretBytes) -> Void

    /// A connection that has received its welcome message.
    struct Connection: Sendable {
        let number: UInt64
        let identifier: [UInt8]
        let key: SymmetricKey
        let send: @Sendable (SecretBytes) -> Void
        let calls: CallTable<AuthorityReply>
    }

    private struct State: Sendable {
        var begun: UInt64 = 0
        var connection: Connection?
        /// The connection that waits for its welcome message.
        var pending: (send: @Sendable (SecretBytes) -> Void, calls: CallTable<AuthorityReply>)?
        var authorities: [UInt32: RemoteAuthority] = [:]
        /// Calls that wait for the welcome message.
        var waiting: [ReplyBox<Bool>] = []
        var pause: Int64 = 1
        /// The timer of the next attempt to connect; released, it would be cancelled.
        var alarm: (any Alarm)?
    }
    private let state = Mutex(State())
    private let connect: Connect
    private let clock: any Clock
    /// Runs the store's part of calls, which blocks.
    private let work: any WorkQueue
    let log: any EventLog
    /// Passes commands to the TPM; nil if the authority needs none.
    private let carrier: (any CommandCarrier)?

    package init(
        clock: any Clock, work: any WorkQueue, log: any EventLog, carrier: (any CommandCarrier)? = nil,
        connect: @escaping Connect
    ) {
        self.clock = clock
        self.work = work
        self.log = log
        self.carrier = carrier
        self.connect = connect
    }

    var connection: Connection? { state.withLock { $0.connection } }

    // MARK: - Connecting

    /// Longest back-off between two attempts to connect, in seconds.
    private static let longestPause: Int64 = 8

    /// Connects; tries again later if that fails.
    package func start() {
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        let calls = CallTable<AuthorityReply>()
        do throws(Failure) {
            // The welcome message may arrive before `connect` returns, so it waits for the function that sends.
            let gate = Gate<SecretBytes>()
            let send = try connect { [self] payload in
                switch gate.enter(payload) {
                case .open: received(payload, number)
                case .waits: true
                case .full, .ended: false
                }
            } _: { [self] in
                ended(number, calls)
            }
            state.withLock { state in
                // It may have ended already, before this function could store it.
                if state.begun == number { state.pending = (send, calls) }
            }
            for frame in gate.openAtOnce() where !received(frame, number) { ended(number, calls) }
        } catch {
            log.record(.authorityLost, error)
            startLater()
        }
    }

    private func startLater() {
        let pause = state.withLock { state in
            defer { state.pause = min(2 * state.pause, Self.longestPause) }
            return state.pause
        }
        let alarm = clock.alarm(after: pause) { [self] in start() }
        state.withLock { $0.alarm = alarm }
    }

    private func ended(_ number: UInt64, _ calls: CallTable<AuthorityReply>) {
        let ended: (authorities: [RemoteAuthority], wasWelcome: Bool)? = state.withLock { state in
            guard state.begun == number else { return nil }
            // A second end of the same connection is ignored.
            state.begun += 1
            defer { (state.connection, state.pending) = (nil, nil) }
            return (state.authorities.values.map { $0 }, state.connection != nil)
        }
        calls.end(Failure(.systemCancel, "The connection to latchkey-authd ended."))
        wakeWaiting()
        guard let ended else { return }
        log.record(.authorityLost, nil)
        // After the commands that were still to be carried.
        if let carrier { work.submit(.any) { carrier.endCarrying() } }
        for authority in ended.authorities { authority.lost() }
        // A service that served is usually started again at once; one that refused must not be asked without a pause.
        if ended.wasWelcome { start() } else { startLater() }
    }

    private func welcome(_ welcome: StoreCall.Welcome, _ number: UInt64) -> Bool {
        guard welcome.version == UInt64(Limits.wireVersion), let key = SymmetricKey(welcome.key) else {
            log.record(
                .authorityLost,
                Failure(
                    .unsupportedVersion, "latchkey-authd speaks version \(welcome.version) of the service channel.",
                    hint: "Install the same version of both services."))
            return false
        }
        let authorities: [RemoteAuthority]? = state.withLock { state in
            guard state.begun == number, state.connection == nil, let pending = state.pending else { return nil }
            state.connection = Connection(
                number: number, identifier: welcome.connection, key: key, send: pending.send, calls: pending.calls)
            state.pending = nil
            state.pause = 1
            return state.authorities.values.map { $0 }
        }
        guard let authorities else { return false }
        for authority in authorities { authority.attach() }
        wakeWaiting()
        return true
    }

    /// Registers the authority of a user, to which messages about the user are passed.
    func add(_ authority: RemoteAuthority, of userID: UInt32) { state.withLock { $0.authorities[userID] = authority } }

    // MARK: - Calls

    /// Seconds for which an answer that needs no person is awaited.
    private static let callSeconds: Int64 = 5

    static let disconnected = Failure(
        .daemonUnavailable, "latchkey-authd cannot be reached.", hint: "See: systemctl status latchkey-authd")

    /// Sends a call and returns its number; 0 if there is no connection, after `completion` was called.
    func begin(_ call: AuthorityCall, _ completion: @escaping CallTable<AuthorityReply>.Completion) -> UInt64 {
        guard let connection else {
            completion(.failure(Self.disconnected))
            return 0
        }
        guard let number = connection.calls.begin(completion) else { return 0 }
        connection.send(ServiceMessage.authorityCall(number, call).encoded())
        return number
    }

    /// Sends a call and waits for its reply. Blocks; must not be called on the thread that receives frames.
    func call(_ call: AuthorityCall) throws(Failure) -> AuthorityReply {
        guard let connection = connection ?? awaitWelcome() else { throw Self.disconnected }
        return try connection.calls.call(seconds: Self.callSeconds) {
            connection.send(ServiceMessage.authorityCall($0, call).encoded())
        }
    }

    /// Waits for the welcome message of a connection that was made; nil if there is none. A service manager starts
    /// latchkey-authd with the first connection, so that message takes a moment.
    private func awaitWelcome() -> Connection? {
        let box = ReplyBox<Bool>()
        let isComing = state.withLock { state in
            if state.pending != nil { state.waiting.append(box) }
            return state.pending != nil || state.connection != nil
        }
        guard isComing else { return nil }
        if connection == nil { _ = box.take(seconds: Self.callSeconds) }
        return connection
    }

    private func wakeWaiting() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for box in waiting { box.put(true) }
    }

    /// The failure for a reply that does not belong to its call.
    static let otherReply = Failure(.internalFailure, "latchkey-authd sent a reply of another kind.")

    /// Asks who a process is. Blocks.
    package func identify(_ process: ProcessName) throws(Failure) -> ProgramIdentity {
        switch try call(.identify(process)) {
        case .identity(let identity): return identity
        case .failure(let failure): throw failure
        default: throw Self.otherReply
        }
    }

    // MARK: - Receiving

    private func received(_ payload: SecretBytes, _ number: UInt64) -> Bool {
        let message: ServiceMessage
        do throws(WireError) {
            message = try ServiceMessage(decoding: payload)
        } catch {
            log.record(.authorityLost, Failure(.malformedRequest, "latchkey-authd sent a frame that cannot be read."))
            return false
        }
        if case .storeCall(0, .welcome(let welcome)) = message { return self.welcome(welcome, number) }
        guard let connection, connection.number == number else { return false }
        switch message {
        case .authorityReply(let call, let reply):
            // A reply to a call that timed out is ignored.
            connection.calls.complete(call, .success(reply))
            return true
        case .storeCall(let call, let body): return handle(call, body, connection)
        case .authorityCall, .storeReply: return false
        }
    }

    private func handle(_ number: UInt64, _ call: StoreCall, _ connection: Connection) -> Bool {
        switch call {
        case .welcome: return false
        case .state(let state): authority(state.userID)?.take(state)
        case .counted(let counted): authority(counted.userID)?.counted(counted.counters)
        case .countersWereLost(let userID): authority(userID)?.countersWereLost()
        case .refused(let refused): authority(refused.userID)?.refused(refused)
        case .tryFailed(let failed): authority(failed.userID)?.tryFailed(failed)
        case .adopt(let adopt): answer(number, connection) { self.authority(adopt.userID)?.adopt(adopt.set) }
        case .open(let open): answer(number, connection) { self.authority(open.userID)?.open(open) }
        case .replaceSlot(let slot): answer(number, connection) { self.authority(slot.userID)?.replaceSlot(slot) }
        case .tryRecovery(let recovery):
            answer(number, connection) { self.authority(recovery.userID)?.recoveryOpens(recovery) }
        case .storeRecoveryCopy(let request):
            answer(number, connection) { self.authority(request.userID)?.storeRecovery(request.copy) }
        case .carry(let command): answer(number, connection) { self.carry(command, for: .passcode) }
        case .carryProof(let command): answer(number, connection) { self.carry(command, for: .proof) }
        case .carryPreparation(let command):
            answer(number, connection) { self.carry(command, for: .preparation) }
        case .sessionLock(let lock): answer(number, connection) { self.authority(lock.userID)?.applySessionLock(lock) }
        }
        return true
    }

    private func carry(_ command: TPMBytes, for purpose: CarriedPurpose) -> StoreReply {
        do throws(Failure) {
            guard let carrier else {
                throw Failure(
                    .notPermitted, "latchkeyd uses no TPM for passcodes.",
                    hint: "Restart both services after a change of their configuration.")
            }
            return .carried(TPMBytes(try carrier.carry(command.bytes, for: purpose)))
        } catch {
            return .failure(error)
        }
    }

    private func authority(_ userID: UInt32) -> RemoteAuthority? { state.withLock { $0.authorities[userID] } }

    private func answer(_ number: UInt64, _ connection: Connection, _ body: @escaping @Sendable () -> StoreReply?) {
        work.submit(.any) {
            let reply = body() ?? .failure(Failure(.malformedRequest, "The user is not known here."))
            connection.send(ServiceMessage.storeReply(number, reply).encoded())
        }
    }
}
