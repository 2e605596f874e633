// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// A second opinion on the reducer: it sees events and effects only, keeps its own books, and says what is wrong.
struct Observer: Hashable, Sendable {
    /// Evaluations that have no reply so far.
    private(set) var outstanding: [EvaluationRequest] = []
    /// The prompt that is up, what it says and what was proven in front of it.
    private(set) var prompt: ShownPrompt?
    /// The counters as they should be.
    private var counters: PolicyCounters

    struct ShownPrompt: Hashable, Sendable {
        var request: EvaluationRequest
        var content: PromptContent
        var isVisible = false
        var isArmed = false
        var isChecking = false
        /// Whether a count is being made durable.
        var isKeeping = false
        /// The counters before a passcode was counted as wrong, until that is durable.
        var countersBefore: PolicyCounters?
        /// Whether the person did what the last step asks for, while it was asked.
        var didLastStep = false
        var proven: Set<AuthenticationMethod> = []
        var provenSet: EnrolmentSet?
    }

    init(_ state: PolicyState) { counters = state.counters }

    /// What is wrong with how `before` became `after`, or nil.
    mutating func complaint(
        about event: PolicyEvent, _ effects: [PolicyEffect], before: PolicyState, after: PolicyState
    ) -> String? {
        note(event, before: before)
        for (index, effect) in effects.enumerated() {
            if let complaint = note(effect, after: after) { return "effect \(index): \(complaint)" }
        }
        return complaint(aboutKeeping: effects, of: event, before: before, after: after)
            ?? complaint(aboutLockout: event, before: before, after: after) ?? complaint(about: after)
    }

    // MARK: - Events

    private mutating func note(_ event: PolicyEvent, before: PolicyState) {
        switch event {
        case .evaluate(let request): outstanding.append(request)
        case .promptVisible(let id): if prompt?.request.id == id { prompt?.isVisible = true }
        case .matched(let id, let set) where watches(id):
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
            guard isRight else { return }
            forgetFailures()
            prompt?.proven.insert(.passcode)
        case .codeAcknowledged(let id): noteLastStep(id, .recoveryCodeShown)
        case .codeEntered(let id): noteLastStep(id, .recoveryCodeAsked)
        case .passcodeWasRight: forgetFailures()
        case .passcodeExists(false):
            counters.passcodeFailures = 0
            counters.passcodeBlockedUntil = 0
        default: break
        }
    }

    private mutating func noteLastStep(_ id: UInt64, _ step: PromptContent.Step) {
        guard let shown = prompt, shown.request.id == id, shown.isVisible, shown.content.step == step else { return }
        prompt?.didLastStep = true
    }

    /// Whether the sensor watches for the prompt of that id, and a person can see it.
    private func watches(_ id: UInt64) -> Bool {
        prompt.map { $0.request.id == id && $0.isVisible && $0.isArmed && !$0.isKeeping } ?? false
    }

    /// Whether a passcode that is typed into the prompt of that id is a try.
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
            if !outstanding.contains(request) { return "a prompt for nobody" }
            if after.refusal(of: request.plan, for: request.faceUser) != nil {
                return "a prompt for what cannot be met"
            }
            prompt = ShownPrompt(request: request, content: content)
            return complaint(about: content, for: request)
        case .update(let id, let content):
            guard let shown = prompt, shown.request.id == id else { return "an update of no prompt" }
            prompt?.content = content
            if shown.isKeeping, content.method == shown.content.method { return "goes on before it is kept" }
            prompt?.isKeeping = false
            prompt?.countersBefore = nil
            if content.step != .proof, shown.isArmed { return "armed during the last step" }
            if content.method == .biometry, shown.isArmed, content.method != shown.content.method {
                return "armed across stages"
            }
            return complaint(about: content, for: shown.request)
        case .dismiss(let id):
            guard let shown = prompt, shown.request.id == id else { return "a dismissal of no prompt" }
            if shown.isArmed { return "dismissed while the sensor watches" }
            prompt?.isVisible = false
            return nil
        case .arm(let id):
            guard let shown = prompt, shown.request.id == id, shown.isVisible else { return "armed unseen" }
            if shown.isArmed { return "armed twice" }
            if !shown.content.asks(for: .biometry) { return "armed while no biometry is asked" }
            if after.sensor.kind == .faceID, shown.request.faceUser.flatMap({ after.facePermissions[$0] }) != true {
                return "looks at a face without leave"
            }
            prompt?.isArmed = true
            return nil
        case .disarm(let id):
            guard let shown = prompt, shown.request.id == id, shown.isArmed else { return "disarmed what is not armed" }
            prompt?.isArmed = false
            return nil
        case .checkPasscode(let id):
            guard let shown = prompt, shown.request.id == id, shown.isVisible, !shown.isChecking,
                !shown.isKeeping, shown.countersBefore != nil,
                shown.content.asks(for: .passcode)
            else { return "a passcode checked that nobody was asked for" }
            prompt?.isChecking = true
            prompt?.countersBefore = nil
            return nil
        case .startDeadline(let id, let seconds):
            guard let shown = prompt, shown.request.id == id else { return "a deadline for no prompt" }
            let isForACode = shown.content.step != .proof
            return seconds == (isForACode ? Limits.recoveryCodeSeconds : Limits.promptSeconds)
                ? nil : "another deadline"
        case .reply(let id, let outcome): return noteReply(id, outcome, after: after)
        case .keepPermissions(let kept): return kept == after.facePermissions ? nil : "keeps other answers"
        case .keepFirst(let id, let kept):
            guard let shown = prompt, shown.request.id == id, !shown.isKeeping else { return "keeps for no try" }
            prompt?.isKeeping = true
            return kept == counters ? nil : "keeps \(kept), should be \(counters)"
        case .startDelay(let id, let seconds):
            guard let shown = prompt, shown.request.id == id, shown.content.asks(for: .passcode) else {
                return "a delay that nobody is told of"
            }
            return Int64(shown.content.delaySeconds) == seconds ? nil : "another delay than the prompt says"
        case .keep(let kept): return kept == counters ? nil : "keeps \(kept), should be \(counters)"
        }
    }

    private func complaint(about content: PromptContent, for request: EvaluationRequest) -> String? {
        if content.step != .proof {
            let expected: PromptContent.Step? =
                switch request.lastStep {
                case .none: nil
                case .showsRecoveryCode: .recoveryCodeShown
                case .asksRecoveryCode: .recoveryCodeAsked
                }
            if content.step != expected { return "a last step that was not asked for" }
            let proven = prompt?.proven ?? []
            if !request.plan.stages.allSatisfy({ !$0.isDisjoint(with: proven) }) { return "a code for no proof" }
            if content.triesLeft != 0 || content.showsFallback || content.offersCompanion || content.asksPermission {
                return "asks for a proof in the last step"
            }
        } else if request.plan.stages.isEmpty {
            return "asks for a proof that is not in the plan"
        }
        if content.showsFallback, !request.allowsFallback { return "shows a hidden fallback" }
        if content.showsFallback, content.method == .passcode { return "offers the passcode where it is asked" }
        return content.triesLeft < 0 ? "negative tries" : nil
    }

    private mutating func noteReply(_ id: UInt64, _ outcome: Outcome, after: PolicyState) -> String? {
        guard let index = outstanding.firstIndex(where: { $0.id == id }) else { return "a reply to nobody" }
        let request = outstanding.remove(at: index)
        let shown = prompt?.request.id == id ? prompt : nil
        if shown != nil {
            if shown?.isVisible == true { return "replied before the prompt was dismissed" }
            prompt = nil
        }
        guard case .granted(let authorisation) = outcome else { return nil }
        let proven = shown?.proven ?? []
        if !request.plan.stages.allSatisfy({ !$0.isDisjoint(with: proven) }) { return "granted what was not proven" }
        if request.lastStep != .none, shown?.didLastStep != true { return "granted before the last step" }
        if authorisation.methods != proven { return "granted \(authorisation.methods), proven \(proven)" }
        if authorisation.enrolment != shown?.provenSet { return "granted another set than the one that matched" }
        if let set = authorisation.enrolment, set != after.sensor.enrolment { return "granted a set that is gone" }
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
        // What could not be kept is taken back in memory alone.
        if case .countersNotKept = event { return keeps.isEmpty ? nil : "keeps what could not be kept" }
        if let index = keeps.first, case .keepFirst = effects[index], effects.count > 1 {
            return "goes on before it is kept"
        }
        if keeps.count != (before.counters == after.counters ? 0 : 1) { return "\(keeps.count) times kept" }
        let reply = effects.firstIndex { if case .reply = $0 { true } else { false } }
        // Who is killed between the two must not have told what it did not keep.
        if let keep = keeps.first, let reply, reply < keep { return "replied before it was kept" }
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
        guard let active = state.active else { return prompt == nil ? nil : "a prompt for nobody stays" }
        guard let shown = prompt, shown.request == active.request else { return "nothing is shown" }
        if shown.isKeeping != (active.keeping != nil) { return "another count is being kept" }
        if (shown.isVisible, shown.isArmed, shown.isChecking) != (active.isVisible, active.isArmed, active.isChecking) {
            return "the prompt is not as the state says"
        }
        if shown.content.step != active.step { return "shows another step" }
        if shown.content.method != active.method || shown.content.notice != active.notice { return "shows old content" }
        // The count of a fifth miss is made durable first, and nothing is looked at until then.
        if shown.isArmed, !shown.isKeeping, state.biometryRefusal(for: active.request.faceUser) != nil {
            return "the sensor watches and cannot be used"
        }
        if shown.isVisible, active.method == .biometry {
            var copy = state
            let works = !copy.reduce(.fallbackChosen(active.request.id)).isEmpty
            if works != shown.content.showsFallback { return "the fallback button does not do what it shows" }
            if !shown.isArmed, !works, !shown.content.asksPermission { return "a prompt that nobody can answer" }
        }
        return nil
    }
}
