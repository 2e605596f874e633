// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// The effects of the policy reducer.

extension LocalAuthority {
    func perform(_ effect: PolicyEffect) {
        switch effect {
        case .show(let request, let content): show(request, content)
        case .update(let id, let content):
            parts.prompter.update(id, complete(content, of: id))
            prepare(for: content, of: id)
        // Executed with the effects that follow it.
        case .dismiss: break
        case .arm(let id): parts.reader.arm(id, user: parts.userID) { [weak self] event in self?.sensor(id, event) }
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
            guard let pending else { return }
            pending.alarm?.cancel()
            pending.delayAlarm?.cancel()
            parts.ended?(EvaluationEnd(pending.caller.application, outcome))
            pending.completion(answer(outcome, to: pending, entered: text), pending.opened)
            parts.passcodePreparation?.end(id)
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
        case .persistFirst(let id, let counters):
            let event: PolicyEvent
            do throws(Failure) {
                try persist(counters)
                missed(id)
                event = .countersStored(id)
            } catch {
                event = .countersNotStored(id, error.status)
            }
            // Processed before events that were posted meanwhile, such as a match, as the reducer requires.
            core.withLock { $0.events.insert(QueuedEvent(make: { _ in event }), at: 0) }
        case .persist(let counters):
            // A proof counts even if the counters cannot be stored: a full disk must not lock the user out, and the
            // stored failure counts are then too high, never too low.
            _ = try? persist(counters)
        case .persistPermissions(let permissions):
            // A decision that cannot be stored applies until the daemon ends; then the app asks again.
            parts.log.recording(.facePermissionsNotKept) { () throws(Failure) in
                try self.parts.permissions?.persist(facePermissions: permissions)
            }
        }
    }

    /// Reports a finger or face that did not match, whose count is durable now; a passcode is not verified yet.
    private func missed(_ id: UInt64) {
        let (failed, sensor) = core.withLock { core in
            let isMiss = core.state.shown(id)?.phase == .biometry(.storingMiss)
            return (isMiss ? core.pending[id]?.failed : nil, core.state.sensor.kind)
        }
        failed?(TriedProof(sensor))
    }

    private func show(_ request: EvaluationRequest, _ content: PromptContent) {
        let id = request.id
        guard let (pending, sensor) = core.withLock({ core in core.pending[id].map { ($0, core.state.sensor.kind) } })
        else { return }
        let asked = pending.request
        let caller = pending.caller.current
        let prompt = Prompt(
            id: id, purpose: asked.purpose,
            caller: PromptText.clean(caller.label, characters: Limits.titleCharacters),
            program: PromptText.clean(caller.program, characters: Limits.reasonCharacters),
            ownName: PromptText.clean(pending.caller.ownName, characters: Limits.titleCharacters),
            processID: caller.processID,
            reason: PromptText.clean(asked.prompting.reason, characters: Limits.reasonCharacters),
            cancelTitle: PromptText.cancelTitle(asked.prompting),
            fallbackTitle: PromptText.fallbackTitle(asked.prompting, plan: asked.plan) ?? "",
            faceUsage: PromptText.clean(asked.faceUsage ?? "", characters: Limits.reasonCharacters),
            sensor: sensor, tier: parts.tier, terminal: caller.terminal, userID: caller.userID,
            startedBy: PromptText.clean(asked.startedBy, characters: Limits.reasonCharacters),
            content: complete(content, of: id))
        parts.prompter.show(prompt) { [weak self] event in self?.prompt(id, event) }
        prepare(for: content, of: id)
    }

    /// Prepares the chip while a prompt asks for the passcode, which the person can type now.
    private func prepare(for content: PromptContent, of id: UInt64) {
        guard content.asks(for: .passcode), content.delaySeconds == 0, let preparation = parts.passcodePreparation,
            let request = core.withLock({ $0.pending[id]?.request })
        else { return }
        // A stage that only the passcode completes can be that of a key which demands the passcode of the chip.
        preparation.begin(id, forKeys: request.purpose == .app && request.plan.stages.contains([.passcode]))
    }

    /// Returns the content with what the reducer does not know. It adds the recovery code only in the step that shows it: any program of the
    /// user can be the agent, and must not receive the code before all stages are complete.
    private func complete(_ content: PromptContent, of id: UInt64) -> PromptContent {
        var content = content
        if content.asks(for: .passcode) { describeAccount(&content, of: id) }
        guard content.step == .recoveryCodeShown else { return content }
        content.recoveryCode = core.withLock { $0.pending[id]?.request.recoveryCode }
        return content
    }

    /// Stores the counters durably; a failure is logged and thrown. Blocks.
    private func persist(_ counters: PolicyCounters) throws(Failure) {
        do throws(Failure) {
            try parts.counters.get().persist(counters)
        } catch {
            parts.log.record(.countersNotKept, error)
            throw error
        }
        client?.counted(counters)
    }

    package func persistCounters() throws(Failure) { try persist(state.counters) }

    /// Forgets the failed tries, as after a right passcode: the recovery code has replaced the passcode.
    package func passcodeWasRecovered() { post(.passcodeWasRight) }
}
