// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// The result of an evaluation, as `Service.Parts.ended` reports it to an observer such as the simulator's transcript.
package struct EvaluationEnd: Equatable, Sendable {
    package let application: String
    /// The methods by which the user authenticated; empty if the evaluation was refused.
    package let methods: Set<AuthenticationMethod>
    /// Why the evaluation was refused; nil if it was granted.
    package let refusal: Status?

    init(_ application: String, _ outcome: Outcome) {
        self.application = application
        switch outcome {
        case .granted(let proof): (methods, refusal) = (proof.methods, nil)
        case .denied(let status): (methods, refusal) = ([], status)
        }
    }
}

/// Passes events to the policy reducer and executes its effects. Events may be posted on any thread and are processed
/// one after the other.
final class Authenticator: Sendable {
    /// An evaluation without a result so far.
    struct Pending: Sendable {
        var asker: Asker
        var prompting: Prompting
        var plan: AuthenticationPlan
        var purpose: PromptPurpose
        var lastStep: RecoveryStep
        var alarm: (any Alarm)?
        /// The timer for the end of the passcode delay.
        var delayAlarm: (any Alarm)?
        /// The wrong passcodes that were typed in this evaluation.
        var wrongPasscodes: [SecretBytes] = []
        var completion: @Sendable (Outcome, SecretBytes?) -> Void
    }

    /// The last step of an evaluation, with the recovery code that it shows.
    enum RecoveryStep: Sendable {
        case none
        case shows(SecretBytes)
        case asks
        case asksNewPasscode

        fileprivate var lastStep: LastStep {
            switch self {
            case .none: .none
            case .shows: .showsRecoveryCode
            case .asks: .asksRecoveryCode
            case .asksNewPasscode: .asksNewPasscode
            }
        }

        fileprivate var code: SecretBytes? { if case .shows(let code) = self { code } else { nil } }
    }

    /// The new passcode of an evaluation that asks for one.
    private enum NewPasscode: Sendable {
        /// Entered once; the prompt asks for it again.
        case entered(SecretBytes)
        /// Entered twice.
        case chosen(SecretBytes)
    }

    /// The caller of an evaluation, and the properties of it that prompts and policy use.
    struct Asker: Sendable {
        var caller: Caller
        /// The face usage description; nil if the app has none (behaviour LA-07).
        var faceUsage: String?
        /// The terminal of the caller's process, as the kernel reports it.
        var terminal: UInt64

        /// The app's identity (`Caller.application`).
        var application: String { caller.application }

        /// The app whose face permission applies. An empty usage description counts as none, as on Apple systems.
        var faceUser: String? { faceUsage?.isEmpty == false ? application : nil }

        /// The number by which evaluations take turns: the process ID.
        var program: UInt64 { UInt64(UInt32(bitPattern: caller.processID)) }

        /// The name that the caller gave itself; empty if it equals the caller's label.
        var ownName: String { application == caller.label ? "" : application }
    }

    private struct Core: Sendable {
        var state: PolicyState
        var events: [(PolicyEvent, (@Sendable () -> Void)?)] = []
        var isDraining = false
        var nextID: UInt64 = 1
        var pending: [UInt64: Pending] = [:]
        var observer: (@Sendable () -> Void)?
        /// The passcode that waits for verification, by evaluation.
        var entered: [UInt64: SecretBytes] = [:]
        /// The recovery code that was entered, by evaluation, until the evaluation ends.
        var enteredCodes: [UInt64: SecretBytes] = [:]
        /// The new passcode that was entered, by evaluation, until the evaluation ends.
        var newPasscodes: [UInt64: NewPasscode] = [:]

        /// Returns whether the prompt of that evaluation is in that step.
        func isIn(_ step: PromptContent.Step, _ id: UInt64) -> Bool {
            state.active.map { $0.request.id == id && $0.isVisible && $0.step == step } ?? false
        }

        /// Removes and returns what an evaluation that ended passes to its request: a recovery code or a new passcode.
        mutating func takeText(_ id: UInt64) -> SecretBytes? {
            let code = enteredCodes.removeValue(forKey: id)
            // A passcode that was entered only once must not be set.
            if case .chosen(let passcode) = newPasscodes.removeValue(forKey: id) { return passcode }
            return code
        }
    }

    /// The dependencies of evaluations.
    struct Parts: Sendable {
        var tier: Tier
        var reader: any BiometricReader
        var prompter: any Prompter
        var clock: any Clock
        var work: any WorkQueue
        /// Runs the verification of passcodes, which stretches them.
        var stretching: any StretchQueue
        var controls: (any SimulatedControls)?
        /// Called at the end of each evaluation.
        var ended: (@Sendable (EvaluationEnd) -> Void)?
        /// Returns whether a passcode is correct; throws if that cannot be determined. Blocks.
        var verify: @Sendable (SecretBytes) throws(Failure) -> Bool
        /// Stores the counters durably. Blocks.
        var keep: @Sendable (PolicyCounters) throws(Failure) -> Void
        /// Stores the face permissions durably; a failure is logged. Blocks.
        var keepPermissions: @Sendable ([String: Bool]) -> Void
    }

    private let core: Mutex<Core>
    private let parts: Parts

    init(state: PolicyState, parts: Parts) {
        core = Mutex(Core(state: state))
        self.parts = parts
    }

    /// The state after the last processed event, with the current time.
    var state: PolicyState {
        var state = core.withLock { $0.state }
        state.now = parts.clock.uptime
        return state
    }

    // MARK: - Evaluations

    /// Starts an evaluation.
    ///
    /// - Parameters:
    ///   - prompting: the caller's texts; ignored for every purpose except `app`.
    ///   - lastStep: the step after all stages of the plan. A plan without stages but with a last step also shows a
    ///     prompt.
    ///   - completion: called exactly once, on any thread, possibly before this returns; with the recovery code or
    ///     the new passcode that the user entered if the evaluation was granted and `lastStep` asks for one.
    /// - Returns: the number of the evaluation.
    @discardableResult
    func evaluate(
        _ plan: AuthenticationPlan, asker: Asker, prompting: Prompting, purpose: PromptPurpose = .app,
        lastStep: RecoveryStep = .none, reuseSeconds: UInt64 = 0,
        completion: @escaping @Sendable (Outcome, SecretBytes?) -> Void
    ) -> UInt64 {
        // Prompts for the daemon's own operations show no text of the caller.
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

    /// Cancels an evaluation for the caller or its connection.
    func withdraw(_ id: UInt64, _ status: Status) { post(.withdrawn(id, status)) }

    // MARK: - Events and effects

    /// Queues an event; processes the queue on this thread unless another thread is doing so.
    ///
    /// - Parameter then: called after the event's effects were executed.
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

    /// Notifies the observer that the state may have changed.
    private func changed() { core.withLock { $0.observer }?() }

    /// Sets the callback that runs after every event.
    func observe(_ observer: @escaping @Sendable () -> Void) { core.withLock { $0.observer = observer } }

    private func next() -> ([PolicyEffect], (@Sendable () -> Void)?)? {
        core.withLock { core in
            guard !core.events.isEmpty else {
                core.isDraining = false
                return nil
            }
            var (event, then) = core.events.removeFirst()
            if case .passcodeChecked(let id, isRight: true) = event, core.state.active?.request.id != id {
                // The try was counted as wrong before it was verified, and its evaluation has ended meanwhile.
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
        case .arm(let id):
            // Without an evaluation there is nothing to scan for.
            guard let user = core.withLock({ $0.pending[id]?.asker.caller.userID }) else { return }
            parts.reader.arm(id, user: user) { [weak self] event in self?.sensor(id, event) }
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
            let (pending, text) = core.withLock { core in
                core.entered[id] = nil
                return (core.pending.removeValue(forKey: id), core.takeText(id))
            }
            pending?.alarm?.cancel()
            pending?.delayAlarm?.cancel()
            if let pending { parts.ended?(EvaluationEnd(pending.asker.application, outcome)) }
            if case .granted = outcome {
                pending?.completion(outcome, text)
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
            // Processed before events that were posted meanwhile, such as a match, as the reducer requires.
            core.withLock { $0.events.insert((event, nil), at: 0) }
        case .keep(let counters):
            // A proof counts even if the counters cannot be stored: a full disk must not lock the user out, and the
            // stored failure counts are then too high, never too low.
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

    /// Returns the content with the recovery code, which it adds only in the step that shows it: any program of the
    /// user can be the agent, and must not receive the code before all stages are complete.
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
        case .guidance(let guidance): post(.guided(id, guidance))
        case .disconnected: post(.sensorDisconnected(id))
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
            // Only the first recovery code is used: its event ends the evaluation.
            core.withLock { core in
                guard let active = core.state.active, active.request.id == id, active.step == .recoveryCodeAsked,
                    core.enteredCodes[id] == nil
                else { return }
                core.enteredCodes[id] = code
            }
            post(.codeEntered(id))
        case .newPasscodeEntered(let passcode): enterNew(passcode, id)
        case .newPasscodeRepeated(let passcode): repeatNew(passcode, id)
        case .companionConfirmed:
            // Outside the simulated tier a prompt must not confirm for a paired device.
            guard parts.tier == .simulated else { return }
            post(.companionConfirmed(id))
        case .simulatedTouch(let matching):
            // Outside the simulated tier a prompt must not operate the sensor.
            guard parts.tier == .simulated else { return }
            // If the command fails, no match is reported, so the error needs no handling.
            _ = try? parts.controls?.apply(.touch(matching: matching))
        }
    }

    /// Stores the first entry of a new passcode until it was entered again.
    private func enterNew(_ passcode: SecretBytes, _ id: UInt64) {
        let isLongEnough = passcode.isLongEnoughAsPasscode
        let isExpected = core.withLock { core in
            // A second first entry must not replace the one whose length was found sufficient.
            guard core.isIn(.newPasscodeAsked, id), core.newPasscodes[id] == nil else { return false }
            if isLongEnough { core.newPasscodes[id] = .entered(passcode) }
            return true
        }
        if isExpected { post(.newPasscodeEntered(id, isLongEnough: isLongEnough)) }
    }

    /// Compares the second entry of a new passcode with the first one, which it forgets if they differ.
    private func repeatNew(_ passcode: SecretBytes, _ id: UInt64) {
        let isEqual: Bool? = core.withLock { core in
            guard core.isIn(.newPasscodeRepeated, id), case .entered(let first) = core.newPasscodes[id] else {
                return nil
            }
            let isEqual = first == passcode
            core.newPasscodes[id] = isEqual ? .chosen(first) : nil
            return isEqual
        }
        if let isEqual { post(.newPasscodeRepeated(id, isEqual: isEqual)) }
    }

    private func enter(_ passcode: SecretBytes, _ id: UInt64) {
        let isRepeated = core.withLock { core in
            // A passcode that arrives after the evaluation ended must not be stored: nothing would ever remove it.
            guard let pending = core.pending[id] else { return false }
            // Compares with all earlier passcodes, so that the duration does not reveal which one is equal.
            let isRepeated = pending.wrongPasscodes.reduce(false) { $1 == passcode || $0 }
            if !isRepeated { core.entered[id] = passcode }
            return isRepeated
        }
        post(isRepeated ? .passcodeRepeated(id) : .passcodeEntered(id, at: parts.clock.uptime))
    }

    private func checkPasscode(_ id: UInt64) {
        let entered = core.withLock { $0.entered.removeValue(forKey: id) }
        let check: @Sendable () -> Void = { [self] in
            // If the evaluation has ended, its passcode is not verified.
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
            // Key stretching takes up to a quarter of a second, which would delay the thread that writes.
            try parts.stretching.submit(.person, check)
        } catch {
            // Does not happen: the queue has no limit for prompts, of which one is shown at a time.
            post(.passcodeNotChecked(id, error.status))
        }
    }
}
