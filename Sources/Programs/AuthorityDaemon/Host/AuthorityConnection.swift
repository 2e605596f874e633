// SPDX-License-Identifier: Apache-2.0

package import LatchkeyAuthority
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The connection of `latchkey-authd` to `latchkeyd`: receives its calls, and calls it.
///
/// A connection has a key for its tokens and the authorities of the users. Both end with it: evaluations under way are
/// refused, and no token is accepted on another connection. Only what the users' stores hold remains.
package final class AuthorityConnection: Sendable {
    /// The dependencies of a connection.
    package struct Parts: Sendable {
        package var random: any RandomSource
        package var log: any EventLog
        /// The refusals that the audit logs of the users record; nil if none are reported.
        package var refusals: RefusalNotices?
        package var sessions: any SessionMonitor
        package var stretching: any StretchQueue
        /// Base-2 logarithm of scrypt's N for new passcodes.
        package var passcodeCost: UInt8
        /// Makes the chip that verifies passcodes, whose commands pass the connection; nil if their records do.
        package var passcodeChip: (@Sendable (any CommandCarrier) -> any PasscodeChip)?
        package var identify: @Sendable (ProcessName) throws(Failure) -> ProgramIdentity
        /// Whether a process has not ended. A program that cannot be determined has the same identity after its end.
        package var isRunning: @Sendable (ProcessName) -> Bool
        package var user: @Sendable (_ userID: UInt32) throws(Failure) -> UserParts
    }

    /// Maximum users with an authority on one connection.
    package static let users = 1024

    let parts: Parts
    let mint: TokenMint
    let verification: PasscodeVerification
    private let carrier = ChannelCarrier()
    private let sendFrame: @Sendable (SecretBytes) -> Void
    private let calls = CallTable<StoreReply>()

    private struct State: Sendable {
        var users: [UInt32: UserAuthority] = [:]
        /// Why users could not be attached; every later call for such a user fails with it.
        var refused: [UInt32: Failure] = [:]
        /// The evaluations under way, by the number of their call.
        var evaluations: [UInt64: PromptSequence?] = [:]
        /// Evaluations that were withdrawn before their number was known.
        var withdrawn: [UInt64: Status] = [:]
        var isOver = false
    }
    private let state = Mutex(State())

    /// Begins the connection with the welcome message.
    ///
    /// - Parameter send: sends a frame; may be called from any thread.
    package init(_ parts: Parts, send: @escaping @Sendable (SecretBytes) -> Void) throws(Failure) {
        self.parts = parts
        sendFrame = send
        let connection = try parts.random.bytes(AuthToken.identifierBytes).copyBytes()
        let key = try parts.random.bytes(32)
        mint = try TokenMint(connection: connection, key: key)
        verification = PasscodeVerification(parts.passcodeChip?(carrier))
        carrier.use(self)
        notify(.welcome(StoreCall.Welcome(version: UInt64(Limits.wireVersion), connection: connection, key: key)))
        parts.refusals?.observe { [weak self] source, count in self?.record(source, count: count) ?? false }
    }

    // MARK: - Sending

    func reply(_ number: UInt64, _ reply: AuthorityReply) {
        sendFrame(ServiceMessage.authorityReply(number, reply).encoded())
    }

    func notify(_ call: StoreCall) { sendFrame(ServiceMessage.storeCall(0, call).encoded()) }

    /// Seconds that a call to the store may take.
    private static let callSeconds: Int64 = 10

    /// Calls the store and waits for the reply. Blocks; must not be called on the thread that receives frames.
    func call(_ call: StoreCall) throws(Failure) -> StoreReply {
        try calls.call(seconds: Self.callSeconds) { sendFrame(ServiceMessage.storeCall($0, call).encoded()) }
    }

    // MARK: - Receiving

    /// Handles a frame; false if the connection must end, because the frame is not a message that it may receive.
    package func received(_ payload: SecretBytes) -> Bool {
        // What latchkeyd had sent before it ended changes nothing any more.
        guard !state.withLock({ $0.isOver }) else { return false }
        let message: ServiceMessage
        do throws(WireError) { message = try ServiceMessage(decoding: payload) } catch { return false }
        switch message {
        case .authorityCall(let number, let call):
            // Number 0 has no reply, and every call of this direction has one.
            guard number != 0 else { return false }
            handle(number, call)
            return true
        case .storeReply(let number, let reply):
            return calls.complete(number, .success(reply)) || calls.hasBegun(number)
        case .authorityReply, .storeCall: return false
        }
    }

    private func handle(_ number: UInt64, _ call: AuthorityCall) {
        do throws(Failure) {
            switch call {
            case .identify(let process): reply(number, .identity(try parts.identify(process)))
            case .attach(let attach): try self.attach(number, attach)
            case .evaluate(let evaluate): try self.evaluate(number, evaluate)
            case .withdraw(let withdraw):
                self.withdraw(withdraw)
                reply(number, .done)
            case .change(let change):
                try whenAttached(change.userID, number, isChange: true) { (user) throws(Failure) in
                    try user.change(number, change.kind)
                }
            case .setFacePermission(let change):
                try whenAttached(change.userID, number) { (user) throws(Failure) in try user.set(number, change) }
            case .bindKey(let bind): try whenAttached(bind.userID, number) { user in user.bindKey(number, bind) }
            case .approve(let approve):
                try whenAttached(approve.userID, number) { user in user.approve(number, approve.request) }
            }
        } catch {
            reply(number, .failure(error))
        }
    }

    private func user(_ userID: UInt32) throws(Failure) -> UserAuthority {
        let (user, refusal) = state.withLock { ($0.users[userID], $0.refused[userID]) }
        if let refusal { throw refusal }
        guard let user else {
            throw Failure(.malformedRequest, "User \(userID) was not attached on this connection.")
        }
        return user
    }

    /// Handles a call of a user when what the attachment has to read is known, after the calls before it.
    private func whenAttached(
        _ userID: UInt32, _ number: UInt64, isChange: Bool = false,
        _ body: @escaping @Sendable (UserAuthority) throws(Failure) -> Void
    ) throws(Failure) {
        let user = try user(userID)
        try user.whenAttached(isChange: isChange) { [self] in
            do throws(Failure) { try body(user) } catch { reply(number, .failure(error)) }
        }
    }

    private func attach(_ number: UInt64, _ attach: AuthorityCall.Attach) throws(Failure) {
        guard !UnmappedUser.includes(attach.userID) else {
            throw Failure(.notPermitted, "User \(attach.userID) stands for users that are unknown here.")
        }
        let (known, hasRoom) = state.withLock { state in
            (state.users[attach.userID], state.users.count + state.refused.count < Self.users)
        }
        if let known { return known.attachAgain(number, attach) }
        guard hasRoom else { throw Failure(.malformedRequest, "There are too many users on this connection.") }
        let user: UserAuthority
        do throws(Failure) {
            user = try UserAuthority(attach.userID, parts.user(attach.userID), connection: self)
        } catch {
            state.withLock { $0.refused[attach.userID] = error }
            throw error
        }
        state.withLock { state in
            state.refused[attach.userID] = nil
            state.users[attach.userID] = user
        }
        user.attach(number, attach)
        // What was refused while no user was attached.
        parts.refusals?.deliver()
    }

    // MARK: - Refusals

    /// Has the stores of all users record refusals; false if no user is attached.
    private func record(_ source: UntrustedSource, count: UInt64) -> Bool {
        let users = state.withLock { $0.users.values.map { $0 } }
        for user in users { user.store.refused(source, count: count) }
        return !users.isEmpty
    }

    // MARK: - Login sessions

    /// Applies a change of login sessions to the users that it concerns.
    ///
    /// - Parameter done: called when the change has taken effect for all of them.
    package func apply(_ event: SessionEvent, _ done: @escaping @Sendable () -> Void) {
        let users = state.withLock { state in
            state.users.values.filter { event.user == nil || $0.userID == event.user }
        }
        // One more than the users, so that without any of them it is done at once.
        let tasks = Countdown(of: users.count + 1, done)
        for user in users { user.apply(event.change) { tasks.down() } }
        tasks.down()
    }

    // MARK: - Evaluations

    private func evaluate(_ number: UInt64, _ request: AuthenticationRequest) throws(Failure) {
        let isRepeated = state.withLock { state in
            guard state.evaluations[number] == nil else { return true }
            state.evaluations[number] = .some(nil)
            return false
        }
        guard !isRepeated else { throw Failure(.malformedRequest, "The number of a call was used twice.") }
        do throws(Failure) {
            try whenAttached(request.process.userID, number) { [self] (user) throws(Failure) in
                try evaluate(number, request, user)
            }
        } catch {
            state.withLock { $0.evaluations[number] = nil }
            throw error
        }
    }

    private func evaluate(_ number: UInt64, _ request: AuthenticationRequest, _ user: UserAuthority) throws(Failure) {
        // It was withdrawn before the user was attached.
        if let withdrawal = withdrawal(of: number) { return end(number, .failure(Failure(withdrawal))) }
        let prompts: PromptSequence
        do throws(Failure) {
            prompts = try user.evaluate(request) { [self] result in
                switch result {
                case .success(let grant): end(number, .granted(grant))
                case .failure(let failure): end(number, .failure(failure))
                }
            }
        } catch {
            state.withLock { state in
                state.evaluations[number] = nil
                state.withdrawn[number] = nil
            }
            throw error
        }
        // The evaluation may have ended already, or may have been withdrawn meanwhile.
        let isUnderWay = state.withLock { state in
            guard state.evaluations[number] != nil else { return false }
            state.evaluations[number] = prompts
            return true
        }
        if isUnderWay, let withdrawal = withdrawal(of: number) { prompts.withdraw(withdrawal) }
    }

    /// Why an evaluation must end that was withdrawn before its prompts were known; nil if it need not.
    private func withdrawal(of number: UInt64) -> Status? {
        state.withLock { $0.isOver ? .systemCancel : $0.withdrawn.removeValue(forKey: number) }
    }

    private func end(_ number: UInt64, _ answer: AuthorityReply) {
        state.withLock { state in
            state.evaluations[number] = nil
            state.withdrawn[number] = nil
        }
        reply(number, answer)
    }

    private func withdraw(_ withdraw: AuthorityCall.Withdraw) {
        // An evaluation can be withdrawn by the caller or with its connection; no other status may be chosen for it.
        let status: Status = withdraw.status == .appCancel ? .appCancel : .systemCancel
        let known = state.withLock { state -> PromptSequence? in
            guard let prompts = state.evaluations[withdraw.evaluation] else { return nil }
            if prompts == nil { state.withdrawn[withdraw.evaluation] = status }
            return prompts
        }
        known?.withdraw(status)
    }

    /// Ends all evaluations and authorities of the connection.
    package func disconnected() {
        let ended = state.withLock { state in
            state.isOver = true
            defer { state.users = [:] }
            return state.evaluations.values.map { $0 }
        }
        calls.end(Failure(.systemCancel, "The connection between the services ended."))
        for prompts in ended { prompts?.withdraw(.systemCancel) }
    }
}
