// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The environment report of an app, and requests that wait for a change of it.

extension Session {
    func environment(unlike seen: UInt64?, _ call: Call) async throws(Failure) -> Reply {
        guard let seen else { return try environmentNow() }
        let failure: Failure? = await withCheckedContinuation { continuation in
            let end: @Sendable (Failure?) -> Void = { continuation.resume(returning: $0) }
            let watch = service.environments.wait(unlike: seen) { [self] in
                state.withLock { $0.watches[call.id] = nil }
                end(nil)
            }
            guard let watch else { return }
            let isClosed = state.withLock { state in
                // The callback may have run already; then there is nothing to cancel.
                if service.environments.isWaiting(watch) { state.watches[call.id] = Watch(number: watch, end: end) }
                return state.isClosed
            }
            if isClosed, service.environments.forget(watch) { end(Refusal.connectionEnded) }
        }
        if let failure { throw failure }
        return try environmentNow()
    }

    /// The current environment report for this app; its domain state hashes differ from those of other apps (behaviour
    /// DS-03).
    private func environmentNow() throws(Failure) -> Reply {
        let revision = service.environments.revision
        let state = service.authority.state
        let application = caller.application
        let keychain = try keychain()
        var biometry: [UInt8]?
        if let set = state.sensor.enrolment { biometry = try keychain.biometryHash(of: set, for: application) }
        return .environment(
            EnvironmentReport(
                biometry: state.sensor.kind, isEnrolled: state.sensor.enrolment != nil,
                isLockedOut: state.isBiometryLocked,
                isBiometryUsable: state.biometryRefusal(
                    for: caller.faceUser(faceUsage), in: caller.loginSession, acceptsWeak: true) == nil,
                biometryHash: biometry, isPasscodeSet: state.isPasscodeSet, revision: revision))
    }
}
