// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// An independent model of the reducer, which observes events and effects and reports violations of the invariants.
struct Observer: Hashable, Sendable {
    /// Evaluations without a reply so far.
    private(set) var outstanding: [EvaluationRequest] = []
    /// The prompts that are shown, by evaluation, with their contents and the proofs obtained at them.
    private(set) var prompts: [UInt64: ShownPrompt] = [:]
    /// Passcodes that were entered while another one was verified, in the order of entry.
    private var held: [Held] = []

    private struct Held: Hashable, Sendable {
        var id: UInt64
        var time: Int64
    }

    /// The counters before a held passcode was counted in this transition; nil if none was.
    private var countersBeforeHeld: PolicyCounters?
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
        /// Whether the account password was proven, where the evaluation begins with it.
        var hasAccount = false
        /// Whether the account password that was verified last, or before, had expired.
        var hasExpired = false
        /// Whether the user completed the last step while the prompt was in that step.
        var didLastStep = false
        /// Whether a new passcode of sufficient length was entered once.
        var hasNewPasscode = false
        var proven: Set<AuthenticationMethod> = []
        var provenSet: EnrolmentSet?
        /// Whether an entered passcode is being counted or verified.
        var isVerifying: Bool { isChecking || countersBefore != nil }
    }

    init(_ state: PolicyState) { counters = state.counters }

    /// Returns the violation in the transition from `before` to `after`; nil if there is none.
    mutating func complaint(
        about event: PolicyEvent, _ effects: [PolicyEffect], before: PolicyState, after: PolicyState
    ) -> String? {
        countersBeforeHeld = nil
        record(event, before: before)
        for (index, effect) in effects.enumerated() {
            if let complaint = record(effect, after: after) { return "effect \(index): \(complaint)" }
        }
        if after.sensor.isWeak, case .arm(let id)? = effects.last, event != .permissionAnswered(id, true) {
            return "a weak sensor scans although the user did not start it"
        }
        return complaintAboutHeld() ?? complaint(aboutStoring: effects, of: event, before: before, after: after)
            ?? complaint(aboutLockout: event, before: before, after: after) ?? complaint(about: after)
    }

    // MARK: - Events

    private mutating func record(_ event: PolicyEvent, before: PolicyState) {
        switch event {
        case .evaluate(let request): outstanding.append(request)
        case .promptVisible(let id): prompts[id]?.isVisible = true
        case .matched(let id, let set, _) where watches(id):
            if before.sensor.enrolment == set {
                counters.biometryFailures = 0
                prompts[id]?.proven.insert(.biometry)
                prompts[id]?.provenSet = set
            } else {
                counters.biometryFailures += 1
            }
        case .notMatched(let id) where watches(id): counters.biometryFailures += 1
        case .passcodeEntered(let id, let time) where takesPasscode(id):
            guard !isVerifying else {
                if !held.contains(where: { $0.id == id }) { held.append(Held(id: id, time: time)) }
                return
            }
            guard time >= counters.passcodeBlockedUntil else { return }
            countPasscode(of: id, at: time)
        case .countersStored(let id): prompts[id]?.isKeeping = false
        case .countersNotStored(let id, _):
            prompts[id]?.isKeeping = false
            guard let before = prompts[id]?.countersBefore else { return }
            counters.passcodeFailures = before.passcodeFailures
            counters.passcodeBlockedUntil = before.passcodeBlockedUntil
        case .passcodeChecked(let id, let isRight) where prompts[id]?.isChecking == true:
            prompts[id]?.isChecking = false
            // A proof of the passcode is none of the account.
            guard isRight, prompts[id]?.content.secret != .accountPassword else { return }
            forgetFailures()
            prompts[id]?.proven.insert(.passcode)
        case .accountProven(let id) where isChecking(.accountPassword, id):
            takeBack(id)
            prompts[id]?.hasAccount = true
        case .passcodeOutdated(let id) where isChecking(.passcode, id): takeBack(id)
        case .passcodeNotVerified(let id, _) where prompts[id]?.isChecking == true: takeBack(id)
        case .accountExpired(let id) where prompts[id]?.isChecking == true:
            prompts[id]?.hasExpired = true
        case .accountNotProven(let id, let fault) where prompts[id]?.isChecking == true:
            if fault == .notAvailable { takeBack(id) }
            prompts[id]?.isChecking = false
        case .codeAcknowledged(let id): recordLastStep(id, .recoveryCodeShown)
        case .codeEntered(let id):
            recordLastStep(id, .recoveryCodeAsked)
            recordLastStep(id, .recoveryCodeRepeated)
            recordLastStep(id, .answerAsked)
            recordLastStep(id, .onceAsked)
        case .newPasscodeEntered(let id, let isLongEnough) where isIn(.newPasscodeAsked, id):
            prompts[id]?.hasNewPasscode = isLongEnough
        case .newPasscodeRepeated(let id, let isEqual) where isIn(.newPasscodeRepeated, id):
            prompts[id]?.hasNewPasscode = isEqual
            prompts[id]?.didLastStep = isEqual
        case .passcodeWasRight:
            forgetFailures()
            // The passcode that is being verified keeps its count.
            guard let id = prompts.first(where: { $0.value.isVerifying })?.key else { return }
            let isChecking = prompts[id]?.isChecking == true
            countPasscode(of: id, at: 0)
            guard isChecking else { return }
            let before = prompts[id]?.countersBefore
            prompts[id]?.uncounted = before
            prompts[id]?.countersBefore = nil
        case .passcodeExists(false):
            counters.passcodeFailures = 0
            counters.passcodeBlockedUntil = 0
        default: break
        }
    }

    /// Returns whether the prompt verifies that secret.
    private func isChecking(_ secret: PromptContent.Secret, _ id: UInt64) -> Bool {
        prompts[id].map { $0.isChecking && $0.content.secret == secret } ?? false
    }

    /// Ends a verification that was no try.
    private mutating func takeBack(_ id: UInt64) {
        guard let before = prompts[id]?.uncounted else { return }
        counters.passcodeFailures = before.passcodeFailures
        counters.passcodeBlockedUntil = before.passcodeBlockedUntil
        prompts[id]?.isChecking = false
    }

    /// Counts an entered passcode before it is verified.
    private mutating func countPasscode(of id: UInt64, at time: Int64) {
        prompts[id]?.countersBefore = counters
        counters.passcodeFailures += 1
        let delay = PolicyState.passcodeDelay(afterFailures: counters.passcodeFailures)
        counters.passcodeBlockedUntil = delay == 0 ? 0 : time + delay
    }

    /// Whether a passcode is being counted or verified at any prompt.
    private var isVerifying: Bool { prompts.values.contains(where: \.isVerifying) }

    /// Forgets held passcodes that are not entered: their prompt does not ask any more, or entry is delayed.
    private mutating func dropHeld() {
        while let first = held.first, !takesPasscode(first.id) || first.time < counters.passcodeBlockedUntil {
            held.removeFirst()
        }
    }

    private mutating func recordLastStep(_ id: UInt64, _ step: PromptContent.Step) {
        if isIn(step, id) { prompts[id]?.didLastStep = true }
    }

    /// Returns whether the prompt with that number is visible and in that step.
    private func isIn(_ step: PromptContent.Step, _ id: UInt64) -> Bool {
        prompts[id].map { $0.isVisible && $0.content.step == step } ?? false
    }

    /// Returns whether the prompt with that number is visible and its sensor armed.
    private func watches(_ id: UInt64) -> Bool {
        prompts[id].map { $0.isVisible && $0.isArmed && !$0.isKeeping } ?? false
    }

    /// Returns whether a passcode entered at the prompt with that number counts as a try.
    private func takesPasscode(_ id: UInt64) -> Bool {
        prompts[id].map {
            $0.isVisible && !$0.isKeeping && !$0.isChecking && $0.content.asks(for: .passcode)
        } ?? false
    }

    private mutating func forgetFailures() {
        counters = PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0)
    }

    // MARK: - Effects

    private mutating func record(_ effect: PolicyEffect, after: PolicyState) -> String? {
        switch effect {
        case .show(let request, let content):
            if prompts.values.contains(where: { $0.request.place.session == request.place.session }) {
                return "a second prompt in a session"
            }
            if !outstanding.contains(request) { return "a prompt without a request" }
            if after.refusal(of: request.plan, for: request.faceUser, acceptsWeak: request.acceptsWeak) != nil {
                return "a prompt for a plan that cannot be completed"
            }
            prompts[request.id] = ShownPrompt(request: request, content: content)
            return complaint(about: content, for: request)
        case .update(let id, let content):
            guard let shown = prompts[id] else { return "an update without a prompt" }
            prompts[id]?.content = content
            if shown.isKeeping, content.method == shown.content.method { return "continues before the count is stored" }
            prompts[id]?.isKeeping = false
            prompts[id]?.countersBefore = nil
            if content.step != .proof, shown.isArmed { return "armed during the last step" }
            if content.method == .biometry, shown.isArmed, content.method != shown.content.method {
                return "armed across stages"
            }
            return complaint(about: content, for: shown.request)
        case .dismiss(let id):
            guard let shown = prompts[id] else { return "a dismissal without a prompt" }
            if shown.isArmed { return "dismissed while the sensor is armed" }
            prompts[id]?.isVisible = false
            return nil
        case .arm(let id):
            guard let shown = prompts[id], shown.isVisible else { return "armed while not visible" }
            if prompts.values.contains(where: \.isArmed) { return "armed twice" }
            if !shown.content.asks(for: .biometry) { return "armed while biometry is not requested" }
            if after.sensor.kind == .faceID, shown.request.faceUser.flatMap({ after.facePermissions[$0] }) != true {
                return "uses the camera without permission"
            }
            prompts[id]?.isArmed = true
            return nil
        case .disarm(let id):
            guard let shown = prompts[id], shown.isArmed else { return "disarmed while not armed" }
            prompts[id]?.isArmed = false
            return nil
        case .checkPasscode(let id):
            if prompts.values.contains(where: \.isChecking) { return "verifies two passcodes at a time" }
            guard let shown = prompts[id], shown.isVisible, !shown.isChecking,
                !shown.isKeeping, shown.countersBefore != nil,
                shown.content.asks(for: .passcode)
            else { return "verifies a passcode that was not requested" }
            prompts[id]?.isChecking = true
            prompts[id]?.uncounted = shown.countersBefore
            prompts[id]?.countersBefore = nil
            return nil
        case .startDeadline(let id, let seconds):
            guard let shown = prompts[id] else { return "a deadline without a prompt" }
            let isShort = [.proof, .accountExpired, .answerAsked, .onceAsked].contains(shown.content.step)
            let whole = isShort ? Limits.promptSeconds : Limits.lastStepSeconds
            // A prompt that shows a delay ends after it.
            let delay = Int64(shown.content.delaySeconds)
            return seconds == whole + (delay <= 300 ? delay : 0) ? nil : "wrong deadline"
        case .reply(let id, let outcome): return recordReply(id, outcome, after: after)
        case .persistPermissions(let persisted):
            return persisted == after.facePermissions ? nil : "stores other permissions"
        case .persistFirst(let id, let persisted):
            if !isVerifying { dropHeld() }
            if let entry = held.first, entry.id == id {
                if isVerifying { return "two tries at a time" }
                countersBeforeHeld = counters
                held.removeFirst()
                countPasscode(of: id, at: entry.time)
            }
            guard let shown = prompts[id], !shown.isKeeping else { return "stores without a try" }
            prompts[id]?.isKeeping = true
            return persisted == counters ? nil : "stores \(persisted), should be \(counters)"
        case .startDelay(let id, let seconds):
            guard let shown = prompts[id], shown.content.asks(for: .passcode) else {
                return "a delay that is not shown"
            }
            return Int64(shown.content.delaySeconds) == seconds ? nil : "another delay than the prompt shows"
        case .persist(let persisted): return persisted == counters ? nil : "stores \(persisted), should be \(counters)"
        }
    }

    private func complaint(about content: PromptContent, for request: EvaluationRequest) -> String? {
        if content.step != .proof {
            let expected: PromptContent.Step? =
                switch request.lastStep {
                case .none: prompts[request.id]?.hasExpired == true ? .accountExpired : nil
                case .showsRecoveryCode: .recoveryCodeShown
                case .asksRecoveryCode: .recoveryCodeAsked
                case .repeatsRecoveryCode: .recoveryCodeRepeated
                case .asksAnswer: .answerAsked
                case .asksOnce: .onceAsked
                // The second entry is only asked for after a first one of sufficient length.
                case .asksNewPasscode:
                    prompts[request.id]?.hasNewPasscode == true ? .newPasscodeRepeated : .newPasscodeAsked
                }
            if content.step != expected { return "a last step that was not requested" }
            let proven = prompts[request.id]?.proven ?? []
            if !request.plan.stages.allSatisfy({ !$0.isDisjoint(with: proven) }) { return "a code before all stages" }
            if content.triesLeft != 0 || content.showsFallback || content.question != .none {
                return "requests a proof in the last step"
            }
        } else if request.startsWithAccount, prompts[request.id]?.hasAccount != true {
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

    private mutating func recordReply(
        _ id: UInt64, _ outcome: Result<Authorisation, Status>, after: PolicyState
    ) -> String? {
        guard let index = outstanding.firstIndex(where: { $0.id == id }) else { return "a reply without a request" }
        let request = outstanding.remove(at: index)
        let shown = prompts.removeValue(forKey: id)
        if shown?.isVisible == true { return "replied before the prompt was dismissed" }
        held.removeAll { $0.id == id }
        guard case .success(let authorisation) = outcome else { return nil }
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
        aboutStoring effects: [PolicyEffect], of event: PolicyEvent, before: PolicyState, after: PolicyState
    ) -> String? {
        if after.counters != counters { return "counts \(after.counters), should be \(counters)" }
        let writes = effects.indices.filter {
            switch effects[$0] {
            case .persist, .persistFirst: true
            default: false
            }
        }
        // A count that could not be stored is undone in memory only.
        if case .countersNotStored = event, countersBeforeHeld == nil {
            return writes.isEmpty ? nil : "stores counters that could not be stored"
        }
        var own = writes
        var changed = after.counters
        if let countersBeforeHeld {
            // The passcode that was held back is counted last.
            guard own.popLast() == effects.indices.last else { return "continues before the count is stored" }
            changed = countersBeforeHeld
        } else if let index = writes.first, case .persistFirst = effects[index], effects.count > 1 {
            return "continues before the count is stored"
        }
        if case .countersNotStored = event { return own.isEmpty ? nil : "stores counters that could not be stored" }
        if own.count != (before.counters == changed ? 0 : 1) { return "counters stored \(own.count) times" }
        let reply = effects.firstIndex { if case .reply = $0 { true } else { false } }
        // The counters must be stored before the reply, so that a daemon that is killed in between has stored them.
        if let write = own.first, let reply, reply < write { return "replied before the counters were stored" }
        return nil
    }

    /// A passcode that was held back is entered as soon as no other one is being verified.
    private mutating func complaintAboutHeld() -> String? {
        guard !isVerifying else { return nil }
        dropHeld()
        return held.isEmpty ? nil : "a held passcode is not entered"
    }

    private func complaint(aboutLockout event: PolicyEvent, before: PolicyState, after: PolicyState) -> String? {
        guard before.isBiometryLocked, !after.isBiometryLocked else { return nil }
        switch event {
        case .passcodeChecked(_, isRight: true), .passcodeWasRight: return nil
        default: return "lockout cleared without a passcode"
        }
    }

    private func complaint(about state: PolicyState) -> String? {
        let shown = state.active.map(\.request)
        let known = shown + state.waiting
        if Set(known) != Set(outstanding) || known.count != outstanding.count { return "an evaluation was lost" }
        if state.waiting != outstanding.filter({ !shown.contains($0) }) { return "the queue is not in order" }
        let sessions = Set(shown.map(\.place.session))
        if state.waiting.contains(where: { !sessions.contains($0.place.session) }) {
            return "an evaluation waits although its session has no prompt"
        }
        if Set(prompts.keys) != Set(shown.map(\.id)) { return "other prompts than evaluations" }
        if prompts.values.count(where: \.isArmed) > 1 { return "armed for two evaluations" }
        if prompts.values.count(where: \.isVerifying) > 1 { return "verifies two passcodes" }
        return state.active.lazy.compactMap { complaint(about: $0, in: state) }.first
    }

    private func complaint(about active: ActiveEvaluation, in state: PolicyState) -> String? {
        guard let shown = prompts[active.request.id], shown.request == active.request else { return "nothing is shown" }
        if shown.isKeeping != active.isStoring { return "the wrong count is being stored" }
        if (shown.isVisible, shown.isArmed, shown.isVerifying)
            != (active.isVisible, active.isArmed, active.isVerifying)
        {
            return "the prompt differs from the state"
        }
        if shown.content.step != active.step { return "shows another step" }
        if shown.content.method != active.method || shown.content.notice != active.notice { return "shows old content" }
        // While the count of a fifth miss is being stored, the sensor is still armed but its events are ignored.
        let refusal = state.biometryRefusal(for: active.request.faceUser, acceptsWeak: active.request.acceptsWeak)
        if shown.isArmed, !shown.isKeeping, refusal != nil { return "the sensor is armed although it cannot be used" }
        if active.awaitsSensor { return complaint(aboutWaitingForSensor: active, in: state) }
        if shown.isVisible, active.method == .biometry {
            var copy = state
            let works = !copy.reduce(.fallbackChosen(active.request.id)).isEmpty
            if works != shown.content.showsFallback { return "the fallback button does not work as shown" }
            if !shown.isArmed, !works, shown.content.question == .none { return "a prompt that cannot be answered" }
        }
        return nil
    }

    private func complaint(aboutWaitingForSensor active: ActiveEvaluation, in state: PolicyState) -> String? {
        if prompts[active.request.id]?.isArmed == true { return "armed while it waits for the sensor" }
        if active.method == .passcode, !active.accepted.contains(.passcode) { return "a passcode that is not accepted" }
        // One whose passcode is verified does not take the sensor meanwhile.
        if active.isVerifying || held.contains(where: { $0.id == active.request.id }) { return nil }
        let others = state.active.filter { $0.request.id != active.request.id }
        return others.contains { $0.method == .biometry && !$0.awaitsSensor } ? nil : "the sensor is not passed on"
    }
}
