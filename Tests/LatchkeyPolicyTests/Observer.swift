// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// An independent model of the reducer, which follows events and effects and reports violations of the invariants.
struct Observer: Hashable, Sendable {
    /// Evaluations without a reply so far.
    private(set) var outstanding: [EvaluationRequest] = []
    /// The prompt that is shown, its content and the proofs obtained at it.
    private(set) var prompt: ShownPrompt?
    /// The expected counters.
    private var counters: PolicyCounters

    struct ShownPrompt: Hashable, Sendable {
        var request: EvaluationRequest
        var content: PromptContent
        var isVisible = false
        var isArmed = false
        /// Whether a passcode is being verified.
        var isChecking = false { didSet { if !isChecking { uncounted = nil } } }
        /// Whether a count is being stored.
        var isKeeping = false
        /// The counters before a passcode was counted as wrong, until the count is durable.
        var countersBefore: PolicyCounters?
        /// The counters before the passcode that is being verified was counted as wrong.
        var uncounted: PolicyCounters?
        /// Whether the password of the account was proven, where the evaluation begins with it.
        var hasAccount = false
        /// Whether the password of the account that was verified last, or before, had expired.
        var hasExpired = false
        /// Whether the user completed the last step while the prompt was in that step.
        var didLastStep = false
        /// Whether a new passcode of sufficient length was entered once.
        var hasNewPasscode = false
        var proven: Set<AuthenticationMethod> = []
        var provenSet: EnrolmentSet?
    }

    init(_ state: PolicyState) { counters = state.counters }

    /// Returns the violation in the transition from `before` to `after`; nil if there is none.
    mutating func complaint(
        about event: PolicyEvent, _ effects: [PolicyEffect], before: PolicyState, after: PolicyState
    ) -> String? {
        note(event, before: before)
        for (index, effect) in effects.enumerated() {
            if let complaint = note(effect, after: after) { return "effect \(index): \(complaint)" }
        }
        if after.sensor.isWeak, case .arm(let id)? = effects.last, event != .permissionAnswered(id, true) {
            return "a weak sensor scans although the user did not start it"
        }
        return complaint(aboutKeeping: effects, of: event, before: before, after: after)
            ?? complaint(aboutLockout: event, before: before, after: after) ?? complaint(about: after)
    }

    // MARK: - Events

    private mutating func note(_ event: PolicyEvent, before: PolicyState) {
        switch event {
        case .evaluate(let request): outstanding.append(request)
        case .promptVisible(let id): if prompt?.request.id == id { prompt?.isVisible = true }
        case .matched(let id, let set, _) where watches(id):
            if before.sensor.enrolment == set {
                counters.biometryFailures = 0
                prompt?.proven.insert(.biometry)
                prompt?.provenSet = set
            } else {
                counters.biometryFailures += 1
            }
        case .notMatched(let id) where watches(id): counters.biometryFailures += 1
        case .passcodeEntered(let id, let time) where takesPasscode(id):
            guard time >= counters.passcodeBlockedUntil else { return }
            prompt?.countersBefore = counters
            counters.passcodeFailures += 1
            let delay = PolicyState.passcodeDelay(afterFailures: counters.passcodeFailures)
            counters.passcodeBlockedUntil = delay == 0 ? 0 : time + delay
        case .countersKept(let id) where prompt?.request.id == id: prompt?.isKeeping = false
        case .countersNotKept(let id, _) where prompt?.request.id == id:
            prompt?.isKeeping = false
            guard let before = prompt?.countersBefore else { return }
            counters.passcodeFailures = before.passcodeFailures
            counters.passcodeBlockedUntil = before.passcodeBlockedUntil
        case .passcodeChecked(let id, let isRight) where prompt?.request.id == id && prompt?.isChecking == true:
            prompt?.isChecking = false
            // A proof of the passcode is none of the account.
            guard isRight, prompt?.content.secret != .accountPassword else { return }
            forgetFailures()
            prompt?.proven.insert(.passcode)
        case .accountProven(let id) where isChecking(.accountPassword, id):
            takeBack()
            prompt?.hasAccount = true
        case .passcodeOutdated(let id) where isChecking(.passcode, id): takeBack()
        case .accountExpired(let id) where prompt?.request.id == id && prompt?.isChecking == true:
            prompt?.hasExpired = true
        case .accountNotProven(let id, let fault) where prompt?.request.id == id && prompt?.isChecking == true:
            if fault == .notAvailable { takeBack() }
            prompt?.isChecking = false
        case .codeAcknowledged(let id): noteLastStep(id, .recoveryCodeShown)
        case .codeEntered(let id):
            noteLastStep(id, .recoveryCodeAsked)
            noteLastStep(id, .recoveryCodeRepeated)
        case .newPasscodeEntered(let id, let isLongEnough) where isIn(.newPasscodeAsked, id):
            prompt?.hasNewPasscode = isLongEnough
        case .newPasscodeRepeated(let id, let isEqual) where isIn(.newPasscodeRepeated, id):
            prompt?.hasNewPasscode = isEqual
            prompt?.didLastStep = isEqual
        case .passcodeWasRight: forgetFailures()
        case .passcodeExists(false):
            counters.passcodeFailures = 0
            counters.passcodeBlockedUntil = 0
        default: break
        }
    }

    /// Returns whether the prompt verifies that secret.
    private func isChecking(_ secret: PromptContent.Secret, _ id: UInt64) -> Bool {
        prompt.map { $0.request.id == id && $0.isChecking && $0.content.secret == secret } ?? false
    }

    /// Ends a verification that was no try.
    private mutating func takeBack() {
        guard let before = prompt?.uncounted else { return }
        counters.passcodeFailures = before.passcodeFailures
        counters.passcodeBlockedUntil = before.passcodeBlockedUntil
        prompt?.isChecking = false
    }

    private mutating func noteLastStep(_ id: UInt64, _ step: PromptContent.Step) {
        if isIn(step, id) { prompt?.didLastStep = true }
    }

    /// Returns whether the prompt with that number is visible and in that step.
    private func isIn(_ step: PromptContent.Step, _ id: UInt64) -> Bool {
        prompt.map { $0.request.id == id && $0.isVisible && $0.content.step == step } ?? false
    }

    /// Returns whether the prompt with that number is visible and its sensor armed.
    private func watches(_ id: UInt64) -> Bool {
        prompt.map { $0.request.id == id && $0.isVisible && $0.isArmed && !$0.isKeeping } ?? false
    }

    /// Returns whether a passcode entered at the prompt with that number counts as a try.
    private func takesPasscode(_ id: UInt64) -> Bool {
        prompt.map {
            $0.request.id == id && $0.isVisible && !$0.isKeeping && !$0.isChecking && $0.content.asks(for: .passcode)
        } ?? false
    }

    private mutating func forgetFailures() {
        counters = PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0)
    }

    // MARK: - Effects

    private mutating func note(_ effect: PolicyEffect, after: PolicyState) -> String? {
        switch effect {
        case .show(let request, let content):
            if prompt != nil { return "a second prompt" }
            if !outstanding.contains(request) { return "a prompt without a request" }
            if after.refusal(of: request.plan, for: request.faceUser, acceptsWeak: request.acceptsWeak) != nil {
                return "a prompt for a plan that cannot be completed"
            }
            prompt = ShownPrompt(request: request, content: content)
            return complaint(about: content, for: request)
        case .update(let id, let content):
            guard let shown = prompt, shown.request.id == id else { return "an update without a prompt" }
            prompt?.content = content
            if shown.isKeeping, content.method == shown.content.method { return "continues before the count is stored" }
            prompt?.isKeeping = false
            prompt?.countersBefore = nil
            if content.step != .proof, shown.isArmed { return "armed during the last step" }
            if content.method == .biometry, shown.isArmed, content.method != shown.content.method {
                return "armed across stages"
            }
            return complaint(about: content, for: shown.request)
        case .dismiss(let id):
            guard let shown = prompt, shown.request.id == id else { return "a dismissal without a prompt" }
            if shown.isArmed { return "dismissed while the sensor is armed" }
            prompt?.isVisible = false
            return nil
        case .arm(let id):
            guard let shown = prompt, shown.request.id == id, shown.isVisible else { return "armed while not visible" }
            if shown.isArmed { return "armed twice" }
            if !shown.content.asks(for: .biometry) { return "armed while biometry is not requested" }
            if after.sensor.kind == .faceID, shown.request.faceUser.flatMap({ after.facePermissions[$0] }) != true {
                return "uses the camera without permission"
            }
            prompt?.isArmed = true
            return nil
        case .disarm(let id):
            guard let shown = prompt, shown.request.id == id, shown.isArmed else { return "disarmed while not armed" }
            prompt?.isArmed = false
            return nil
        case .checkPasscode(let id):
            guard let shown = prompt, shown.request.id == id, shown.isVisible, !shown.isChecking,
                !shown.isKeeping, shown.countersBefore != nil,
                shown.content.asks(for: .passcode)
            else { return "verifies a passcode that was not requested" }
            prompt?.isChecking = true
            prompt?.uncounted = shown.countersBefore
            prompt?.countersBefore = nil
            return nil
        case .startDeadline(let id, let seconds):
            guard let shown = prompt, shown.request.id == id else { return "a deadline without a prompt" }
            let isInLastStep = shown.content.step != .proof && shown.content.step != .accountExpired
            return seconds == (isInLastStep ? Limits.lastStepSeconds : Limits.promptSeconds)
                ? nil : "wrong deadline"
        case .reply(let id, let outcome): return noteReply(id, outcome, after: after)
        case .keepPermissions(let kept): return kept == after.facePermissions ? nil : "stores other permissions"
        case .keepFirst(let id, let kept):
            guard let shown = prompt, shown.request.id == id, !shown.isKeeping else { return "stores without a try" }
            prompt?.isKeeping = true
            return kept == counters ? nil : "stores \(kept), should be \(counters)"
        case .startDelay(let id, let seconds):
            guard let shown = prompt, shown.request.id == id, shown.content.asks(for: .passcode) else {
                return "a delay that is not shown"
            }
            return Int64(shown.content.delaySeconds) == seconds ? nil : "another delay than the prompt shows"
        case .keep(let kept): return kept == counters ? nil : "stores \(kept), should be \(counters)"
        }
    }

    private func complaint(about content: PromptContent, for request: EvaluationRequest) -> String? {
        if content.step != .proof {
            let expected: PromptContent.Step? =
                switch request.lastStep {
                case .none: prompt?.hasExpired == true ? .accountExpired : nil
                case .showsRecoveryCode: .recoveryCodeShown
                case .asksRecoveryCode: .recoveryCodeAsked
                case .repeatsRecoveryCode: .recoveryCodeRepeated
                // The second entry is only asked for after a first one of sufficient length.
                case .asksNewPasscode: prompt?.hasNewPasscode == true ? .newPasscodeRepeated : .newPasscodeAsked
                }
            if content.step != expected { return "a last step that was not requested" }
            let proven = prompt?.proven ?? []
            if !request.plan.stages.allSatisfy({ !$0.isDisjoint(with: proven) }) { return "a code before all stages" }
            if content.triesLeft != 0 || content.showsFallback || content.offersCompanion
                || content.question != .none
            {
                return "requests a proof in the last step"
            }
        } else if request.startsWithAccount, prompt?.hasAccount != true {
            if content.secret != .accountPassword || content.method != .passcode { return "begins without the account" }
        } else if request.plan.stages.isEmpty {
            return "requests a proof that is not in the plan"
        } else if content.secret == .accountPassword {
            return "requests the account where it was not requested"
        }
        if content.showsFallback, !request.allowsFallback { return "shows a hidden fallback" }
        if content.showsFallback, content.method == .passcode { return "offers the passcode although it is requested" }
        return content.triesLeft < 0 ? "negative tries" : nil
    }

    private mutating func noteReply(_ id: UInt64, _ outcome: Outcome, after: PolicyState) -> String? {
        guard let index = outstanding.firstIndex(where: { $0.id == id }) else { return "a reply without a request" }
        let request = outstanding.remove(at: index)
        let shown = prompt?.request.id == id ? prompt : nil
        if shown != nil {
            if shown?.isVisible == true { return "replied before the prompt was dismissed" }
            prompt = nil
        }
        guard case .granted(let authorisation) = outcome else { return nil }
        let proven = shown?.proven ?? []
        if !request.plan.stages.allSatisfy({ !$0.isDisjoint(with: proven) }) { return "granted an incomplete plan" }
        if request.startsWithAccount, shown?.hasAccount != true { return "granted without the account" }
        if request.lastStep != .none, shown?.didLastStep != true { return "granted before the last step" }
        if authorisation.methods != proven { return "granted \(authorisation.methods), proofs of \(proven)" }
        if authorisation.isWeak, !request.acceptsWeak { return "granted by a weak sensor what is no policy" }
        if authorisation.enrolment != shown?.provenSet { return "granted another set than the one that matched" }
        if let set = authorisation.enrolment, set != after.sensor.enrolment { return "granted an earlier set" }
        return nil
    }
}

// MARK: - States

extension Observer {
    private func complaint(
        aboutKeeping effects: [PolicyEffect], of event: PolicyEvent, before: PolicyState, after: PolicyState
    ) -> String? {
        if after.counters != counters { return "counts \(after.counters), should be \(counters)" }
        let keeps = effects.indices.filter {
            switch effects[$0] {
            case .keep, .keepFirst: true
            default: false
            }
        }
        // A count that could not be stored is undone in memory only.
        if case .countersNotKept = event { return keeps.isEmpty ? nil : "stores counters that could not be stored" }
        if let index = keeps.first, case .keepFirst = effects[index], effects.count > 1 {
            return "continues before the count is stored"
        }
        if keeps.count != (before.counters == after.counters ? 0 : 1) { return "counters stored \(keeps.count) times" }
        let reply = effects.firstIndex { if case .reply = $0 { true } else { false } }
        // The counters must be stored before the reply, so that a daemon that is killed in between has stored them.
        if let keep = keeps.first, let reply, reply < keep { return "replied before the counters were stored" }
        return nil
    }

    private func complaint(aboutLockout event: PolicyEvent, before: PolicyState, after: PolicyState) -> String? {
        guard before.isBiometryLocked, !after.isBiometryLocked else { return nil }
        switch event {
        case .passcodeChecked(_, isRight: true), .passcodeWasRight: return nil
        default: return "lockout cleared without a passcode"
        }
    }

    private func complaint(about state: PolicyState) -> String? {
        let known = [state.active?.request].compactMap(\.self) + state.waiting
        if Set(known) != Set(outstanding) || known.count != outstanding.count { return "an evaluation was lost" }
        if state.waiting != outstanding.filter({ $0.id != state.active?.request.id }) {
            return "the queue is not in order"
        }
        guard let active = state.active else { return prompt == nil ? nil : "a prompt without an evaluation" }
        guard let shown = prompt, shown.request == active.request else { return "nothing is shown" }
        if shown.isKeeping != (active.keeping != nil) { return "the wrong count is being stored" }
        if (shown.isVisible, shown.isArmed, shown.isChecking) != (active.isVisible, active.isArmed, active.isChecking) {
            return "the prompt differs from the state"
        }
        if shown.content.step != active.step { return "shows another step" }
        if shown.content.method != active.method || shown.content.notice != active.notice { return "shows old content" }
        // While the count of a fifth miss is being stored, the sensor is still armed but its events are ignored.
        let refusal = state.biometryRefusal(for: active.request.faceUser, acceptsWeak: active.request.acceptsWeak)
        if shown.isArmed, !shown.isKeeping, refusal != nil { return "the sensor is armed although it cannot be used" }
        if shown.isVisible, active.method == .biometry {
            var copy = state
            let works = !copy.reduce(.fallbackChosen(active.request.id)).isEmpty
            if works != shown.content.showsFallback { return "the fallback button does not work as shown" }
            if !shown.isArmed, !works, shown.content.question == .none { return "a prompt that cannot be answered" }
        }
        return nil
    }
}
