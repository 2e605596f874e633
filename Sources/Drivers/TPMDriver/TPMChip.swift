// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// A TPM that the drivers of one process share.
///
/// A TPM carries out one command at a time and has memory for few objects, while vault, enclave and passcode use it
/// independently. `use` therefore lends the client to one thread after the other. `TPMMemory` loads what a driver needs
/// again when another one has displaced it.
///
/// The connection is made at the first use, and again after a failure; handles of an earlier connection are never used.
/// After a minute without a command the memory is released for other programs.
package final class TPMChip: Sendable {
    struct State: Sendable {
        var client: TPMClient
        /// Carries the commands that verify a passcode, on a connection of its own.
        var passcodes: TPMClient
        var memory = TPMMemory()
        fileprivate var isReleaseDue = false
        fileprivate var releaseAlarm: (any Alarm)?
        /// Uses of keys that are prepared while a person is asked.
        fileprivate var preparations = 0
        /// Uptime in nanoseconds until which they are.
        fileprivate var preparedUntil: Int64 = 0
        fileprivate var renewalAlarm: (any Alarm)?
        /// Whether what is cached will be needed when a person has answered.
        var isPrepared: Bool { preparations > 0 && client.clock.uptime < preparedUntil }
    }
    private let state: Mutex<State>
    private let clock: any Clock
    /// What the TPM said about itself on its present connection. A mutex of its own, so that reading it does not wait for a
    /// command.
    private let identified = Mutex<(generation: UInt64, identity: TPMIdentity)?>(nil)

    /// Why the TPM refused the password of the owner hierarchy when it was checked.
    private let refusedOwner = Mutex<Failure?>(nil)

    /// Seconds without a command after which the memory of the TPM is released.
    private static let idleSeconds: Int64 = 60

    /// Creates a chip that is connected when it is used first, and again after each failure of a connection.
    ///
    /// - Parameter ownerPassword: the password of the owner hierarchy; nil for the empty one.
    package init(
        _ place: any TPMConnecting, clock: any Clock, random: any RandomSource, ownerPassword: SecretBytes? = nil
    ) {
        self.clock = clock
        let client = TPMClient(place, clock: clock, random: random, ownerPassword: ownerPassword)
        state = Mutex(State(client: client, passcodes: client.another(at: place)))
    }

    deinit { close() }

    /// Uses the chip; other threads wait meanwhile.
    func use<R: Sendable>(_ body: (inout TPMMemory, inout TPMClient) throws(TPMError) -> R) throws(Failure) -> R {
        try useAll { (state) throws(TPMError) in try body(&state.memory, &state.client) }
    }

    /// Uses the chip with both connections; other threads wait meanwhile.
    func useAll<R: Sendable>(_ body: (inout State) throws(TPMError) -> R) throws(Failure) -> R {
        defer { releaseLater() }
        return try state.withLock { (state) throws(Failure) in
            defer { forgetIdentity(before: state.client.generation) }
            do throws(TPMError) {
                state.memory.use(state.client.generation)
                return try body(&state)
            } catch {
                throw error.failure
            }
        }
    }

    /// What the TPM said about itself on its present connection; nil if it was not asked. Does not block.
    package var knownIdentity: TPMIdentity? { identified.withLock { $0?.identity } }

    /// Reads what the TPM says about itself, once on each connection. Blocks unless it is known.
    package func identity() throws(Failure) -> TPMIdentity {
        if let known = knownIdentity { return known }
        return try use { (_, client) throws(TPMError) in
            let identity = try client.identity()
            // The command may have opened another connection.
            let generation = client.generation
            identified.withLock { $0 = (generation, identity) }
            return identity
        }
    }

    /// Why the TPM refuses the password of the owner hierarchy that root has given; nil if it was accepted, was not checked,
    /// or if there is none. Does not block.
    package var ownerProblem: Failure? { refusedOwner.withLock { $0 } }

    /// Checks the password of the owner hierarchy, which is otherwise needed only when something is made or removed. Does
    /// nothing without one. Blocks.
    ///
    /// - Throws: the failure that names a wrong password, and the errors of the device.
    package func checkOwner() throws(Failure) {
        do throws(Failure) {
            try use { (_, client) throws(TPMError) in
                guard client.ownerPassword != nil else { return }
                try client.checkOwner()
            }
            refusedOwner.withLock { $0 = nil }
        } catch {
            // Another failure says nothing about the password.
            if (error.cause as? TPMError)?.kind == .badAuthorization { refusedOwner.withLock { $0 = error } }
            throw error
        }
    }

    /// Forgets what the TPM of an earlier connection said: another one may answer at the same place now.
    private func forgetIdentity(before generation: UInt64) {
        identified.withLock { if let known = $0, known.generation != generation { $0 = nil } }
    }

    /// Sets the alarm that removes what is cached for the next use: the memory of a TPM is small, and a session that
    /// exists for long stops other programs from saving theirs.
    private func releaseLater() {
        let isSet = state.withLock { state in
            defer { state.isReleaseDue = true }
            return state.isReleaseDue
        }
        guard !isSet else { return }
        let alarm = clock.alarm(after: Self.idleSeconds) { [weak self] in self?.release() }
        state.withLock { if $0.isReleaseDue { $0.releaseAlarm = alarm } }
    }

    /// Removes keys and unused sessions from the TPM, unless a use is prepared, whose end is followed by this again.
    package func release() {
        state.withLock { state in
            (state.isReleaseDue, state.releaseAlarm) = (false, nil)
            guard !state.isPrepared else { return }
            state.memory.use(state.client.generation)
            state.memory.releaseAll(&state.client)
        }
    }

    // MARK: - While a person is asked

    /// Seconds after which the nonce of a prepared session is renewed: before `takeIdleSession` refuses it.
    private static let renewalSeconds: Int64 = 15
    /// Seconds after which a preparation ends by itself: a prompt is shown for a minute, and may wait for another one.
    private static let preparationSeconds: Int64 = 180

    /// Loads what a use needs, and keeps it until `endPreparation`.
    func prepare(
        _ body: (inout TPMMemory, inout TPMClient) throws(TPMError) -> Void
    ) throws(Failure) {
        try useAll { (state) throws(TPMError) in
            do throws(TPMError) {
                try body(&state.memory, &state.client)
            } catch {
                // There was no room, for example. What was loaded so far takes none.
                state.memory.use(state.client.generation)
                if !state.isPrepared { state.memory.releaseAll(&state.client) }
                throw error
            }
            state.preparations += 1
            state.preparedUntil = clock.uptime &+ Self.preparationSeconds &* 1_000_000_000
        }
        renewLater()
    }

    /// Ends a preparation; removes what it has loaded unless it was used or another one goes on.
    func endPreparation(isUsed: Bool) {
        // What cannot be removed now is removed with the connection.
        try? useAll { (state) throws(TPMError) in
            state.preparations = max(0, state.preparations - 1)
            guard state.preparations == 0 else { return }
            state.renewalAlarm?.cancel()
            state.renewalAlarm = nil
            if !isUsed { state.memory.releaseAll(&state.client) }
        }
    }

    private func renewLater() {
        let now = clock.uptime
        let alarm = clock.alarm(after: Self.renewalSeconds) { [weak self] in self?.renew(setAt: now) }
        let earlier = state.withLock { state in
            guard state.preparations > 0 else { return alarm as (any Alarm)? }
            defer { state.renewalAlarm = alarm }
            return state.renewalAlarm
        }
        earlier?.cancel()
    }

    /// Renews the nonce of the prepared session, again and again.
    ///
    /// - Parameter time: when the alarm was set. A clock that cannot wait calls this at once, and then no other one is set.
    private func renew(setAt time: Int64) {
        let goesOn = state.withLock { state in
            guard state.preparations > 0 else { return false }
            state.memory.use(state.client.generation)
            guard state.isPrepared else {
                // Its end was never reported.
                state.preparations = 0
                state.memory.releaseAll(&state.client)
                return false
            }
            state.client.renewIdleSession(olderThan: Self.renewalSeconds)
            return clock.uptime > time
        }
        if goesOn { renewLater() }
    }

    /// Removes everything from the TPM, also the sessions of begun uses, and ends the connection. The kernel does so when
    /// the device of its resource manager is closed; nothing does when a socket is. Blocks.
    package func close() {
        state.withLock { state in
            state.memory.use(state.client.generation)
            state.client.endAllSessions()
            state.memory.releaseAll(&state.client)
            state.client.disconnect()
            state.passcodes.disconnect()
        }
    }
}
