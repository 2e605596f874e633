// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Requests that write items. Each write is one piece of work of the write queue.

extension Session {
    func add(_ request: Request.AddItem, _ call: Call) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        try checkBiometry(request.accessControl)
        try await openPasscodeClass(for: request.accessControl, request.authentication, call, keychain)
        var password = try appPassword(request.authentication, keychain)
        let parameters = try keychain.stretchingToAdd(request.accessControl, password)
        password = try await stretched(password, parameters, request.authentication)
        let stretched = password
        let item = try await service.parts.work.run(.oneItem) { () throws(Failure) in
            try keychain.add(request, caller: caller, password: stretched)
        }
        return item.map { .items([$0], more: false) } ?? .done
    }

    /// Asks for the passcode if what is added needs the key derived from it, unless the context has a proof of it and
    /// the key is in memory.
    func openPasscodeClass(
        for control: AccessControl, _ authentication: Authentication, _ call: Call, _ keychain: Keychain,
        reason: String = Session.readsItem
    ) async throws(Failure) {
        guard try keychain.addNeedsPasscode(control) else { return }
        let isProven = try proof(of: authentication.context).methods.contains(.passcode)
        guard !isProven || !keychain.tree.holdsPasscodeKey else { return }
        var proof = requestProof(authentication.context)
        try await prove(AuthenticationPlan([[.passcode]]), call, authentication, &proof, reason: reason)
    }

    func update(_ request: Request.UpdateItems, _ call: Call) async throws(Failure) -> Reply {
        let authentication = request.authentication
        var proof = requestProof(authentication.context)
        _ = try self.proof(of: proof)
        let keychain = try keychain()
        var password = try appPassword(authentication, keychain)
        if let control = request.accessControl {
            try checkBiometry(control)
            if try keychain.addNeedsPasscode(control) {
                try await prove(AuthenticationPlan([[.passcode]]), call, authentication, &proof)
            }
        }
        do throws(Failure) {
            var stretchRound = 0
            while true {
                let (held, stretchedPassword) = (proof, password)
                let result = try await service.parts.work.run(request.query.namesOneItem ? .oneItem : .any) {
                    [self] () throws(Failure) in
                    try self.keychain().update(
                        request, caller: caller, proof: self.proof(of: held), password: stretchedPassword)
                }
                switch result {
                case .finished, .more: return .done
                case .needs(let plan): try await prove(plan, call, authentication, &proof)
                case .stretch(let parameters):
                    stretchRound += 1
                    try checkStretchRounds(stretchRound)
                    password = try await stretched(password, parameters, authentication)
                }
            }
        } catch {
            throw await recorded(error, authentication.prompting)
        }
    }

    func delete(_ query: ItemQuery) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        try await service.parts.work.run(query.namesOneItem ? .oneItem : .any) { () throws(Failure) in
            try keychain.delete(query, caller: caller)
        }
        return .done
    }

    /// Throws if the access control requires biometry and no passcode is set or none is enrolled (behaviour AC-03), or if it
    /// requires the current enrolment set and the sensor does not report changes of it.
    func checkBiometry(_ control: AccessControl) throws(Failure) {
        guard !control.constraints.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) else { return }
        let state = service.authority.state
        if state.sensor.kind == .none {
            throw Failure(
                .biometryNotAvailable, "There is no biometric sensor to which the item could be bound.",
                hint:
                    "Use .userPresence, which accepts the passcode; for the sensors that are found see: latchkey doctor"
            )
        }
        // Without a passcode no biometry is accepted, so nothing could open the item.
        guard state.isPasscodeSet else { throw Failure.passcodeClassUnavailable }
        if state.sensor.enrolment == nil { throw Refusal.failure(.biometryNotEnrolled, state) }
        guard state.sensor.reportsEnrolmentChanges || !control.constraints.contains(.biometryCurrentSet) else {
            throw Failure(
                .enrolmentBindingUnavailable, "This tier cannot detect changes of the enrolled fingers.",
                hint: "biometryCurrentSet works in tiers file, tpm and simulated; use .biometryAny here.")
        }
    }
}
