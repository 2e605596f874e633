// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// What the evaluations of several login sessions share: the tries of the user, of which one is verified at a time, and
// the counters that their prompts show.

extension PolicyState {
    /// Returns the evaluation with that number if its prompt is shown.
    package func shown(_ id: UInt64) -> ActiveEvaluation? { active.first { $0.request.id == id } }

    /// Replaces a shown evaluation by its next state. Has no effect if it has ended.
    mutating func put(_ evaluation: ActiveEvaluation) {
        guard let index = active.firstIndex(where: { $0.request.id == evaluation.request.id }) else { return }
        active[index] = evaluation
    }

    /// Calls a function for each shown evaluation that has not ended meanwhile, and returns all effects.
    mutating func forEachShown(_ body: (inout PolicyState, ActiveEvaluation) -> [PolicyEffect]) -> [PolicyEffect] {
        var effects: [PolicyEffect] = []
        for id in active.map(\.request.id) {
            guard let evaluation = shown(id) else { continue }
            effects += body(&self, evaluation)
        }
        return effects
    }

    // MARK: - One verification at a time

    /// Whether an entered passcode of the user is being counted or verified.
    var isVerifying: Bool { active.contains(where: \.isVerifying) }

    /// Whether a passcode of that evaluation waits for the verification of another one.
    func isHeld(_ id: UInt64) -> Bool { heldEntries.contains { $0.id == id } }

    /// Holds an entered passcode back until no other one is being verified.
    mutating func hold(_ id: UInt64, at time: Int64) -> [PolicyEffect] {
        if !isHeld(id) { heldEntries.append(HeldEntry(id: id, time: time)) }
        return []
    }

    /// Enters the passcodes that were held back, in their order, until one of them is being verified.
    private mutating func enterHeld() -> [PolicyEffect] {
        var effects: [PolicyEffect] = []
        while !isVerifying, !heldEntries.isEmpty {
            let entry = heldEntries.removeFirst()
            // The delay after the passcode that was verified meanwhile applies.
            effects += passcodeEntered(entry.id, at: max(now, entry.time))
        }
        return effects
    }

    // MARK: - Prompts of other evaluations

    /// What a prompt shows, apart from the passing of time.
    struct SharedContent: Equatable {
        var content: PromptContent
        var delayedUntil: Int64
    }

    /// What the prompts show that do not belong to an event; empty if its own prompt is the only one.
    func sharedContents(before event: PolicyEvent) -> [UInt64: SharedContent] {
        guard active.count > 1 || event == .passcodeWasRight else { return [:] }
        return Dictionary(active.map { ($0.request.id, sharedContent($0)) }) { first, _ in first }
    }

    private func sharedContent(_ evaluation: ActiveEvaluation) -> SharedContent {
        var content = content(evaluation)
        content.delaySeconds = 0
        return SharedContent(content: content, delayedUntil: isDelayed(evaluation) ? passcodeBlockedUntil : 0)
    }

    /// Continues the other evaluations after an event of one of them.
    ///
    /// - Parameters:
    ///   - effects: the effects of the event.
    ///   - before: what the prompts showed before it.
    mutating func continueOthers(_ effects: [PolicyEffect], from before: [UInt64: SharedContent]) -> [PolicyEffect] {
        var more = passSensor()
        if !before.isEmpty { more += updates(after: effects + more, from: before) }
        more += enterHeld()
        // An entry that was refused because of a delay does not block the sensor for its evaluation any more.
        return more + passSensor()
    }

    /// Updates the prompts that show other tries, or another delay, than before.
    private func updates(after effects: [PolicyEffect], from before: [UInt64: SharedContent]) -> [PolicyEffect] {
        var more: [PolicyEffect] = []
        for evaluation in active where !evaluation.isVerifying && !evaluation.isStoring {
            let id = evaluation.request.id
            let isUpdated = effects.contains { if case .update(id, _) = $0 { true } else { false } }
            guard !isUpdated, let old = before[id], old != sharedContent(evaluation) else { continue }
            let delay = delay(evaluation)
            more += [.update(id, content(evaluation))] + delay
            // The passcode was right at another prompt, or was not verified there.
            if old.delayedUntil > now, delay.isEmpty {
                more.append(.startDeadline(id, seconds: evaluation.step.seconds))
            }
        }
        return more
    }
}
