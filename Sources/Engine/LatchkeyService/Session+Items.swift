// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import Synchronization

extension Session {
    /// Maximum number of prompts within one request (behaviour AC-13).
    static let roundsOfAsking = 20

    /// Shows a prompt, then continues with `next`; a refusal is recorded in the audit log and answered.
    ///
    /// The authority shows no prompt if it accepts a recent unlock of the device instead (behaviour LA-33), so that it
    /// also answers a request that allows none.
    func askThen(
        _ id: UInt64, _ plan: AuthenticationPlan, _ authentication: Authentication, _ round: Int,
        reason: String = "read a protected item",
        next: @escaping @Sendable (Authorisation) throws(Failure) -> Void, answer: @escaping Answer
    ) throws(Failure) {
        let interactionAllowed = authentication.prompting.interactionAllowed
        let notAllowed = Failure(
            .interactionNotAllowed, "The item requires authentication, and a prompt is not allowed.")
        guard interactionAllowed || authentication.reuseSeconds > 0 else { throw notAllowed }
        guard round <= Self.roundsOfAsking else {
            throw Failure(.itemAuthenticationFailed, "The request required authentication too many times.")
        }
        var prompting = authentication.prompting
        if prompting.reason.isEmpty { prompting.reason = reason }
        // Under a policy, "Enter Password" makes the app ask for its own password (behaviour LA-24). In an item
        // request it only makes the request fail (behaviour AC-12), so the button is shown only if the app set its
        // title.
        let takesPasscode = plan.stages.contains { $0.contains(.passcode) }
        if !takesPasscode, prompting.fallbackTitle == nil { prompting.fallbackTitle = "" }
        ask(id, plan, authentication.context, prompting, authentication.reuseSeconds) { [self] asked in
            do throws(Failure) {
                switch asked {
                case .granted(let proof): try next(proof)
                case .denied(let failure):
                    deny(interactionAllowed ? failure : notAllowed, interactionAllowed: interactionAllowed, answer)
                }
            } catch {
                end(error, answer)
            }
        }
    }

    /// Records a refusal in the audit log, then replies with it.
    func refuse(_ failure: Failure, _ answer: @escaping Answer) {
        let caller = caller
        service.parts.work.submit(.any) { [self] in
            do throws(Failure) { try keychain().recordRefusal(of: caller) } catch {
                service.unrecorded.note(.refusalNotRecorded, error, for: error.status)
            }
            answer(.failure(failure))
        }
    }

    /// Adds to a reply that a request which named the access group of another program is recorded as a refusal.
    func recordingForeignGroups(_ answer: @escaping Answer) -> Answer {
        { [self] reply in
            if case .failure(let failure) = reply, failure.status == .missingEntitlement {
                return refuse(failure, answer)
            }
            answer(reply)
        }
    }

    /// Replies with the failure of an attempt to open an item or a key. A wrong application password and an
    /// invalidated item are recorded as refusals too, although no prompt was shown.
    func end(_ failure: Failure, _ answer: @escaping Answer) {
        if failure.status == .itemAuthenticationFailed { refuse(failure, answer) } else { answer(.failure(failure)) }
    }

    // MARK: - Writing

    func add(_ id: UInt64, _ request: Request.AddItem, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        try checkBiometry(request.accessControl)
        guard try keychain.addNeedsPasscode(request.accessControl) else { return try add(request, keychain, answer) }
        if try proof(of: request.authentication.context).methods.contains(.passcode), keychain.tree.holdsPasscodeKey {
            return try add(request, keychain, answer)
        }
        try askThen(id, AuthenticationPlan([[.passcode]]), request.authentication, 1) {
            [self] (_) throws(Failure) in
            try add(request, keychain, answer)
        } answer: {
            answer($0)
        }
    }

    private func add(
        _ request: Request.AddItem, _ keychain: Keychain, _ answer: @escaping Answer
    ) throws(Failure) {
        let caller = caller
        let password = try appPassword(request.authentication, keychain)
        let parameters = try keychain.stretchingToAdd(request.accessControl, password)
        try stretch(request.authentication, parameters, password, answer) { [self] password in
            service.parts.work.submit(.oneItem) {
                do throws(Failure) {
                    guard let item = try keychain.add(request, caller: caller, password: password) else {
                        return answer(.done)
                    }
                    answer(.items([item], more: false))
                } catch {
                    answer(.failure(error))
                }
            }
        }
    }

    func update(_ id: UInt64, _ request: Request.UpdateItems, _ answer: @escaping Answer) throws(Failure) {
        let held = requestProof(request.authentication.context)
        _ = try proof(of: held)
        let keychain = try keychain()
        let updating = Updating(
            id: id, request: request, answer: answer, held: held,
            password: try appPassword(request.authentication, keychain))
        if let control = request.accessControl {
            try checkBiometry(control)
            if try keychain.addNeedsPasscode(control) {
                return try askThen(id, AuthenticationPlan([[.passcode]]), request.authentication, 1) { [self] more in
                    update(updating.asked(adding(more, to: held)))
                } answer: {
                    answer($0)
                }
            }
        }
        update(updating)
    }

    /// The state of a request that updates items.
    private struct Updating: Sendable {
        let id: UInt64
        let request: Request.UpdateItems
        let answer: Answer
        var held: RequestProof
        var password: AppPassword
        var round = 1
        var stretchRound = 1

        func asked(_ held: RequestProof) -> Updating {
            var next = self
            (next.held, next.round) = (held, round + 1)
            return next
        }

        func stretched(_ password: AppPassword) -> Updating {
            var next = self
            (next.password, next.stretchRound) = (password, stretchRound + 1)
            return next
        }
    }

    private func update(_ updating: Updating) {
        let caller = caller
        let (request, answer) = (updating.request, updating.answer)
        service.parts.work.submit(request.query.namesOneItem ? .oneItem : .any) { [self] in
            do throws(Failure) {
                let result = try keychain().update(
                    request, caller: caller, proof: proof(of: updating.held), password: updating.password)
                switch result {
                case .finished, .more: answer(.done)
                case .needs(let plan):
                    try askThen(updating.id, plan, request.authentication, updating.round) { [self] more in
                        update(updating.asked(adding(more, to: updating.held)))
                    } answer: {
                        answer($0)
                    }
                case .stretch(let parameters):
                    try checkStretchRounds(updating.stretchRound)
                    try stretch(request.authentication, parameters, updating.password, answer) { [self] in
                        update(updating.stretched($0))
                    }
                }
            } catch {
                end(error, answer)
            }
        }
    }

    func delete(_ query: ItemQuery, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        let caller = caller
        service.parts.work.submit(query.namesOneItem ? .oneItem : .any) {
            do throws(Failure) {
                try keychain.delete(query, caller: caller)
                answer(.done)
            } catch {
                answer(.failure(error))
            }
        }
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
