// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// How an evaluation ended and for whom, for those who only watch.
package struct EvaluationEnd: Equatable, Sendable {
    package let application: String
    /// What was proven; empty when it was refused.
    package let methods: Set<AuthenticationMethod>
    /// Why it was refused, or nil.
    package let refusal: Status?

    init(_ application: String, _ outcome: Outcome) {
        self.application = application
        switch outcome {
        case .granted(let proof): (methods, refusal) = (proof.methods, nil)
        case .denied(let status): (methods, refusal) = ([], status)
        }
    }
}

/// Feeds the reducer and carries out its effects, one event after another, whichever thread brings them.
final class Authenticator: Sendable {
    /// Someone who waits for an evaluation.
    struct Pending: Sendable {
        var asker: Asker
        var prompting: Prompting
        var plan: AuthenticationPlan
        var purpose: PromptPurpose
        var lastStep: RecoveryStep
        var alarm: (any Alarm)?
        /// Rings when passcode entry may go on.
        var delayAlarm: (any Alarm)?
        /// The wrong passcodes that were typed in this evaluation.
        var wrongPasscodes: [SecretBytes] = []
        var completion: @Sendable (Outcome, SecretBytes?) -> Void
    }

    /// The step behind the plan, with the recovery code that it shows.
    enum RecoveryStep: Sendable {
        case none
        case shows(SecretBytes)
        case asks

        fileprivate var lastStep: LastStep {
            switch self {
            case .none: .none
            case .shows: .showsRecoveryCode
            case .asks: .asksRecoveryCode
            }
        }

        fileprivate var code: SecretBytes? { if case .shows(let code) = self { code } else { nil } }
    }

    /// Who asks, for the prompt to name.
    struct Asker: Sendable {
        var caller: Caller
        /// What it looks at faces for, if it says so (behaviour LA-07).
        var faceUsage: String?
        /// The terminal of the caller's process, as the kernel reports it.
        var terminal: UInt64

        /// Its identity: the name it gave itself, or the kernel's.
        var application: String { caller.application }

        /// An empty description is none, as on Apple systems.
        var faceUser: String? { faceUsage?.isEmpty == false ? application : nil }

        /// Whose turn it is among those who wait: the process, as the kernel numbers it.
        var program: UInt64 { UInt64(UInt32(bitPattern: caller.processID)) }

        /// The name it gave itself, if that is another than the kernel's.
        var ownName: String { application == caller.label ? "" : application }
    }

    private struct Core: Sendable {
        var state: PolicyState
        var events: [(PolicyEvent, (@Sendable () -> Void)?)] = []
        var isDraining = false
        var nextID: UInt64 = 1
        var pending: [UInt64: Pending] = [:]
        var observer: (@Sendable () -> Void)?
        /// A passcode that waits to be checked.
        var entered: [UInt64: SecretBytes] = [:]
        /// A recovery code that was typed, until the evaluation ends.
        var enteredCodes: [UInt64: SecretBytes] = [:]
    }

    /// The parts of the outside world an evaluation touches.
    struct Parts: Sendable {
        var tier: Tier
        var reader: any BiometricReader
        var prompter: any Prompter
        var clock: any Clock
        var work: any WorkQueue
        /// Where passcodes are stretched.
        var stretching: any StretchQueue
        var controls: (any SimulatedControls)?
        /// Told of the end of each evaluation.
        var ended: (@Sendable (EvaluationEnd) -> Void)?
        /// Checks a passcode; blocks. Throws when it cannot be told whether it is right.
        var verify: @Sendable (SecretBytes) throws(Failure) -> Bool
        /// Keeps counters durably; blocks.
        var keep: @Sendable (PolicyCounters) throws(Failure) -> Void
        /// Keeps the answers about faces durably; blocks.
        var keepPermissions: @Sendable ([String: Bool]) -> Void
    }

    private let core: Mutex<Core>
    private let parts: Parts

    init(state: PolicyState, parts: Parts) {
        core = Mutex(Core(state: state))
        self.parts = parts
    }

    /// The state between two events, at this moment.
    var state: PolicyState {
        var state = core.withLock { $0.state }
        state.now = parts.clock.uptime
        return state
    }

    // MARK: - Evaluations

    /// Starts an evaluation.
    ///
    /// - Parameters:
    ///   - prompting: the caller's texts. For every purpose but `app` the prompt shows none of them.
    ///   - lastStep: what follows once the plan is proven. A plan of nothing with a last step shows a prompt too.
    ///   - completion: called exactly once, on any thread, possibly before this returns; with the recovery code that was
    ///     typed, when the evaluation was granted and `lastStep` asks for one.
    @discardableResult
    func evaluate(
        _ plan: AuthenticationPlan, asker: Asker, prompting: Prompting, purpose: PromptPurpose = .app,
        lastStep: RecoveryStep = .none, reuseSeconds: UInt64 = 0,
        completion: @escaping @Sendable (Outcome, SecretBytes?) -> Void
    ) -> UInt64 {
        // What the daemon asks for itself is asked in its own words only.
        let prompting =
            purpose == .app ? prompting : Prompting(interactionAllowed: prompting.interactionAllowed)
        let id = core.withLock { core in
            defer { core.nextID += 1 }
            core.pending[core.nextID] = Pending(
                asker: asker, prompting: prompting, plan: plan, purpose: purpose, lastStep: lastStep,
                completion: completion)
            return core.nextID
        }
        let request = EvaluationRequest(
            id: id, plan: plan, allowsFallback: PromptText.fallbackTitle(prompting, plan: plan) != nil,
            interactionAllowed: prompting.interactionAllowed, reuseSeconds: reuseSeconds, faceUser: asker.faceUser,
            purpose: purpose, lastStep: lastStep.lastStep, caller: asker.caller, program: asker.program)
        post(.evaluate(request))
        return id
    }

    /// Ends an evaluation from the caller's side.
    func withdraw(_ id: UInt64, _ status: Status) { post(.withdrawn(id, status)) }

    // MARK: - Events and effects

    /// Puts an event in; `then` is called when its effects are done.
    func post(_ event: PolicyEvent, then: (@Sendable () -> Void)? = nil) {
        let isFirst = core.withLock { core in
            core.events.append((event, then))
            defer { core.isDraining = true }
            return !core.isDraining
        }
        guard isFirst else { return }
        while let (effects, then) = next() {
            for effect in effects { perform(effect) }
            then?()
            changed()
        }
    }

    /// Tells the observer that the state may be another.
    private func changed() { core.withLock { $0.observer }?() }

    /// Sets who is told after every event.
    func observe(_ observer: @escaping @Sendable () -> Void) { core.withLock { $0.observer = observer } }

    private func next() -> ([PolicyEffect], (@Sendable () -> Void)?)? {
        core.withLock { core in
            guard !core.events.isEmpty else {
                core.isDraining = false
                return nil
            }
            var (event, then) = core.events.removeFirst()
            if case .passcodeChecked(let id, isRight: true) = event, core.state.active?.request.id != id {
                // The try was counted as wrong before it was checked, and its evaluation has ended meanwhile.
                event = .passcodeWasRight
            }
            return (core.state.reduce(event, at: parts.clock.uptime), then)
        }
    }

    private func perform(_ effect: PolicyEffect) {
        switch effect {
        case .show(let request, let content): show(request, content)
        case .update(let id, let content): parts.prompter.update(id, complete(content, of: id))
        case .dismiss(let id): parts.prompter.dismiss(id)
        case .arm(let id): parts.reader.arm(id) { [weak self] event in self?.sensor(id, event) }
        case .disarm(let id): parts.reader.disarm(id)
        case .checkPasscode(let id): checkPasscode(id)
        case .startDeadline(let id, let seconds):
            let alarm = parts.clock.alarm(after: seconds) { [weak self] in self?.post(.deadlinePassed(id)) }
            let earlier = core.withLock { core in
                defer { core.pending[id]?.alarm = alarm }
                return core.pending[id]?.alarm
            }
            earlier?.cancel()
        case .reply(let id, let outcome):
            let (pending, code) = core.withLock { core in
                core.entered[id] = nil
                return (core.pending.removeValue(forKey: id), core.enteredCodes.removeValue(forKey: id))
            }
            pending?.alarm?.cancel()
            pending?.delayAlarm?.cancel()
            if let pending { parts.ended?(EvaluationEnd(pending.asker.application, outcome)) }
            if case .granted = outcome {
                pending?.completion(outcome, code)
            } else {
                pending?.completion(outcome, nil)
            }
        case .startDelay(let id, let seconds):
            let alarm = parts.clock.alarm(after: seconds) { [weak self] in
                guard let self else { return }
                post(.delayPassed(id, at: parts.clock.uptime))
            }
            let earlier = core.withLock { core in
                defer { core.pending[id]?.delayAlarm = alarm }
                return core.pending[id]?.delayAlarm
            }
            earlier?.cancel()
        case .keepFirst(let id, let counters):
            let event: PolicyEvent
            do throws(Failure) {
                try parts.keep(counters)
                event = .countersKept(id)
            } catch {
                event = .countersNotKept(id, error.status)
            }
            // Before everything that has been posted meanwhile, such as a match.
            core.withLock { $0.events.insert((event, nil), at: 0) }
        case .keep(let counters):
            // A proof that cannot be written down still counts: a full disk must not lock the owner out. What stays
            // kept are more failures than there were.
            _ = try? parts.keep(counters)
        case .keepPermissions(let permissions):
            parts.keepPermissions(permissions)
        }
    }

    private func show(_ request: EvaluationRequest, _ content: PromptContent) {
        let id = request.id
        guard let (pending, sensor) = core.withLock({ core in core.pending[id].map { ($0, core.state.sensor.kind) } })
        else { return }
        let caller = pending.asker.caller.current
        let prompt = Prompt(
            id: id, purpose: pending.purpose,
            caller: PromptText.clean(caller.label, characters: Limits.titleCharacters),
            program: PromptText.clean(caller.program, characters: Limits.reasonCharacters),
            ownName: PromptText.clean(pending.asker.ownName, characters: Limits.titleCharacters),
            processID: caller.processID,
            reason: PromptText.clean(pending.prompting.reason, characters: Limits.reasonCharacters),
            cancelTitle: PromptText.cancelTitle(pending.prompting),
            fallbackTitle: PromptText.fallbackTitle(pending.prompting, plan: pending.plan) ?? "",
            faceUsage: PromptText.clean(pending.asker.faceUsage ?? "", characters: Limits.reasonCharacters),
            sensor: sensor, tier: parts.tier, terminal: pending.asker.terminal, userID: caller.userID,
            content: complete(content, of: id))
        parts.prompter.show(prompt) { [weak self] event in self?.prompt(id, event) }
    }

    /// The content as it is shown: with the recovery code in the step that shows it, and in no other. Any program of the user
    /// can be the agent, and is not given the code before everything is proven.
    private func complete(_ content: PromptContent, of id: UInt64) -> PromptContent {
        guard content.step == .recoveryCodeShown else { return content }
        var content = content
        content.recoveryCode = core.withLock { $0.pending[id]?.lastStep.code }
        return content
    }

    private func sensor(_ id: UInt64, _ event: SensorEvent) {
        switch event {
        case .match(let set): post(.matched(id, set))
        case .noMatch: post(.notMatched(id))
        case .failed: post(.sensorFailed(id))
        }
    }

    private func prompt(_ id: UInt64, _ event: PromptEvent) {
        switch event {
        case .visible: post(.promptVisible(id))
        case .unavailable: post(.promptUnavailable(id))
        case .lost: post(.promptLost(id))
        case .cancel: post(.cancelChosen(id))
        case .fallback: post(.fallbackChosen(id))
        case .passcode(let passcode):
            enter(passcode, id)
        case .permission(let isAllowed): post(.permissionAnswered(id, isAllowed))
        case .codeAcknowledged: post(.codeAcknowledged(id))
        case .codeEntered(let code):
            // The first one counts: its event ends the evaluation.
            core.withLock { core in
                guard let active = core.state.active, active.request.id == id, active.step == .recoveryCodeAsked,
                    core.enteredCodes[id] == nil
                else { return }
                core.enteredCodes[id] = code
            }
            post(.codeEntered(id))
        case .companionConfirmed:
            // No prompt outside the simulated tier can speak for a paired device.
            guard parts.tier == .simulated else { return }
            post(.companionConfirmed(id))
        case .simulatedTouch(let matching):
            // Outside the simulated tier there is nothing that a prompt could play.
            guard parts.tier == .simulated else { return }
            // A script's touch that fails is no match.
            _ = try? parts.controls?.apply(.touch(matching: matching))
        }
    }

    private func enter(_ passcode: SecretBytes, _ id: UInt64) {
        let isRepeated = core.withLock { core in
            // What comes after the end is for no evaluation, and would never be taken out again.
            guard let pending = core.pending[id] else { return false }
            // Compares with each of them, however many are the same.
            let isRepeated = pending.wrongPasscodes.reduce(false) { $1 == passcode || $0 }
            if !isRepeated { core.entered[id] = passcode }
            return isRepeated
        }
        post(isRepeated ? .passcodeRepeated(id) : .passcodeEntered(id, at: parts.clock.uptime))
    }

    private func checkPasscode(_ id: UInt64) {
        let entered = core.withLock { $0.entered.removeValue(forKey: id) }
        let check: @Sendable () -> Void = { [self] in
            // For a prompt that is over the passcode is not even looked at.
            guard core.withLock({ $0.pending[id] != nil }) else { return }
            guard let entered else { return post(.passcodeNotChecked(id, .internalFailure)) }
            do throws(Failure) {
                let isRight = try parts.verify(entered)
                if !isRight { core.withLock { $0.pending[id]?.wrongPasscodes.append(entered) } }
                post(.passcodeChecked(id, isRight: isRight))
            } catch {
                post(.passcodeNotChecked(id, error.status))
            }
        }
        do throws(Failure) {
            // Stretching takes a quarter of a second: not on the thread that writes.
            try parts.stretching.submit(.person, check)
        } catch {
            // The queue has no bound for prompts, of which one is up at a time.
            post(.passcodeNotChecked(id, error.status))
        }
    }
}
