// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The environment report of an app, and requests that wait for a change of it.

extension Session {
    func environment(_ id: UInt64, unlike seen: UInt64?, _ answer: @escaping Answer) {
        guard let seen else { return answer(environmentNow()) }
        let watch = service.environments.wait(unlike: seen) { [weak self] in
            guard let self else { return }
            state.withLock { $0.watches[id] = nil }
            answer(environmentNow())
        }
        guard let watch else { return }
        let isClosed = state.withLock { state in
            // The callback may have run already; then there is nothing to cancel.
            if service.environments.isWaiting(watch) { state.watches[id] = Watch(number: watch, answer: answer) }
            return state.isClosed
        }
        if isClosed { service.environments.forget(watch) }
    }

    /// The current environment report for this app; its domain state hashes differ from those of other apps (behaviour
    /// DS-03).
    private func environmentNow() -> Reply {
        let revision = service.environments.revision
        let state = service.authority.state
        let application = caller.application
        do throws(Failure) {
            let keychain = try keychain()
            var biometry: [UInt8]?
            if let set = state.sensor.enrolment {
                biometry = try keychain.domainHash(application, "biometry", set.bytes)
            }
            return .environment(
                EnvironmentReport(
                    biometry: state.sensor.kind, isEnrolled: state.sensor.enrolment != nil,
                    isLockedOut: state.isBiometryLocked,
                    isBiometryUsable: state.biometryRefusal(
                        for: caller.faceUser(faceUsage), in: caller.loginSession, acceptsWeak: true) == nil,
                    biometryHash: biometry, isPasscodeSet: state.isPasscodeSet,
                    revision: revision))
        } catch {
            return .failure(error)
        }
    }
}
