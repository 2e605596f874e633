// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// A machine with a scripted sensor and a scripted person.
///
/// Actions wait in one line, and the first is taken as soon as something can take it: a touch when the sensor is
/// armed, a passcode when the prompt asks for one, the fallback button when it is shown.
package final class SimulatedWorld: BiometricReader, CompanionMonitor, SessionMonitor, SimulatedControls {
    /// What a person does.
    package enum Action: Equatable, Sendable {
        case touch(matching: Bool)
        case passcode(SecretBytes)
        case fallback
        case cancel
        /// A confirmation on a paired device.
        case confirm
        /// The answer to whether the app may look at faces.
        case permission(Bool)
        /// The recovery code is written down.
        case codeAcknowledged
        case recoveryCode(SecretBytes)
        /// The sensor gives up.
        case sensorFailure
    }

    private struct ShownPrompt: Sendable {
        var id: UInt64
        var content: PromptContent
        var isVisible: Bool
        /// Whether the script alone answers it.
        var isUnseen = false
        /// Whether it ends as soon as no action is left.
        var endsWithScript = false
        /// Whether the sensor has watched for it.
        var wasArmed = false
        var events: @Sendable (PromptEvent) -> Void

        /// Whether the action stays the first in line for good, since what would let the prompt take it is behind it.
        func neverTakes(_ action: Action, isArmed: Bool) -> Bool {
            switch action {
            // The sensor watches a moment after the prompt is visible.
            case .touch, .sensorFailure:
                !isArmed && (wasArmed || !content.asks(for: .biometry) || content.asksPermission)
            // A delay of the entry passes with the clock.
            case .passcode: !content.asks(for: .passcode)
            case .fallback: !content.showsFallback
            case .confirm: !content.offersCompanion
            case .permission: !content.asksPermission
            case .codeAcknowledged: content.step != .recoveryCodeShown
            case .recoveryCode: content.step != .recoveryCodeAsked
            case .cancel: false
            }
        }
    }

    private struct QueuedAction: Sendable {
        var action: Action
        var line: ScriptLine?
    }

    private struct Core: Sendable {
        var state: WorldState
        var armed: (id: UInt64, events: @Sendable (SensorEvent) -> Void)?
        var prompt: ShownPrompt?
        var script: [QueuedAction] = []
        /// Whether the last action's consequence, another look of the prompt or its end, is still to come.
        var awaitsConsequence = false
        var observer: (@Sendable () -> Void)?
        var companions = CompanionState()
        var report: (@Sendable (SessionEvent) -> Void)?
        /// What goes wrong next, once each.
        var failures: Set<SimulatedFailure> = []
        var acceptsAnyPasscode = false
        var passcode: SecretBytes?
        /// The recovery code that a prompt showed last.
        var shownCode: SecretBytes?
        /// Why the script could not go on, until the caller is told, and as it was last.
        var untold: ScriptProblem?
        var problem: ScriptProblem?
        /// Whether a passcode that is not taken now is not entered later either.
        var isImpatient = false

        /// Takes the first action out of the line; the next one waits for what it causes, so that no action is lost on
        /// a prompt that is about to end.
        mutating func takeFirst() {
            script.removeFirst()
            awaitsConsequence = prompt != nil
        }

        /// Why nothing that waits can ever answer the prompt; nil when something may, and when a person sees it.
        func problemOfScript() -> ScriptProblem? {
            guard let prompt, prompt.isUnseen, prompt.isVisible else { return nil }
            guard let next = script.first else { return prompt.endsWithScript ? ScriptProblem(prompt.content) : nil }
            return prompt.neverTakes(next.action, isArmed: armed != nil)
                ? ScriptProblem(next.action, next.line, prompt.content) : nil
        }

        /// Keeps the recovery code, once the prompt shows it.
        mutating func seeCode() {
            if let prompt, prompt.content.step == .recoveryCodeShown { shownCode = prompt.content.recoveryCode }
        }
    }

    private let core: Mutex<Core>
    private let random: any RandomSource
    private let clock: VirtualClock
    /// What happened.
    package let record: SimulatedRecord
    private let save: @Sendable (WorldState) throws(Failure) -> Void

    /// Makes a world; `save` keeps what outlives the process.
    package init(
        _ state: WorldState, clock: VirtualClock, random: any RandomSource,
        save: @escaping @Sendable (WorldState) throws(Failure) -> Void
    ) {
        core = Mutex(Core(state: state))
        self.clock = clock
        record = SimulatedRecord(clock: clock)
        self.random = random
        self.save = save
    }

    // MARK: - The sensor

    package var state: SensorState {
        let state = core.withLock { $0.state }
        return SensorState(
            kind: state.sensor, enrolment: state.enrolment.isEmpty ? nil : EnrolmentSet(state.enrolment))
    }

    package func arm(_ evaluation: UInt64, events: @escaping @Sendable (SensorEvent) -> Void) {
        core.withLock { core in
            core.armed = (evaluation, events)
            if core.prompt?.id == evaluation { core.prompt?.wasArmed = true }
        }
        goOn()
    }

    package func disarm(_ evaluation: UInt64) {
        core.withLock { core in if core.armed?.id == evaluation { core.armed = nil } }
    }

    package func observe(_ changed: @escaping @Sendable () -> Void) { core.withLock { $0.observer = changed } }

    // MARK: - Surroundings

    package var companions: CompanionState { core.withLock { $0.companions } }

    package func observeSession(_ report: @escaping @Sendable (SessionEvent) -> Void) {
        core.withLock { $0.report = report }
    }

    private func report(_ event: SessionEvent) { core.withLock { $0.report }?(event) }

    /// Every change of what is paired gives the type another name.
    private func pair(_ type: CompanionType, _ isPaired: Bool) throws(Failure) {
        let name = try random.bytes(16).copyBytes()
        core.withLock { core in
            core.companions.paired[type] = isPaired ? name : nil
            if isPaired { core.companions.nearby.insert(type) } else { core.companions.nearby.remove(type) }
        }
        core.withLock { $0.observer }?()
    }

    // MARK: - The prompt

    /// A prompt comes up; what a person does waits until it can be seen.
    func promptComes(_ prompt: Prompt, _ events: @escaping @Sendable (PromptEvent) -> Void) {
        core.withLock { core in
            core.prompt = ShownPrompt(
                id: prompt.id, content: prompt.content, isVisible: false, events: events)
            core.seeCode()
            core.awaitsConsequence = false
        }
    }

    /// The script alone answers that prompt.
    func promptIsUnseen(_ id: UInt64, endsWithScript: Bool = false) {
        core.withLock { core in
            guard core.prompt?.id == id else { return }
            core.prompt?.isUnseen = true
            core.prompt?.endsWithScript = endsWithScript
        }
    }

    func promptIsVisible(_ id: UInt64) {
        core.withLock { core in if core.prompt?.id == id { core.prompt?.isVisible = true } }
        goOn()
    }

    func promptChanges(_ id: UInt64, _ content: PromptContent) {
        core.withLock { core in
            guard core.prompt?.id == id else { return }
            core.prompt?.content = content
            core.seeCode()
            core.awaitsConsequence = false
        }
    }

    func promptGoes(_ id: UInt64) {
        core.withLock { core in
            guard core.prompt?.id == id else { return }
            core.prompt = nil
            core.awaitsConsequence = false
        }
    }

    // MARK: - The person

    /// Puts an action at the end of the line; `line` is that of the script.
    /// - Returns: whether it was taken at once.
    @discardableResult
    package func perform(_ action: Action, _ line: ScriptLine? = nil) -> Bool {
        core.withLock { $0.script.append(QueuedAction(action: action, line: line)) }
        goOn()
        return core.withLock { $0.script.isEmpty }
    }

    /// Does something while the person does just that, before all that waits; what was not taken is dropped, and so is a
    /// passcode while entry is delayed.
    package func playing<R>(_ actions: [Action], _ body: () throws -> R) rethrows -> R {
        let others = core.withLock { core in
            defer { (core.script, core.isImpatient) = (actions.map { QueuedAction(action: $0) }, true) }
            return core.script
        }
        defer {
            core.withLock { core in (core.script, core.isImpatient) = (others, false) }
            goOn()
        }
        return try body()
    }

    /// Hands the first action to what can take it; one at a time, since what it causes decides about the next.
    func goOn() {
        let run: (@Sendable () -> Void)? = core.withLock { core in
            if core.isImpatient, case .passcode? = core.script.first?.action, let prompt = core.prompt,
                prompt.isVisible, prompt.content.asks(for: .passcode), prompt.content.delaySeconds > 0
            {
                core.script.removeFirst()
            }
            guard !core.awaitsConsequence else { return nil }
            if let action = core.script.first?.action, let run = take(action, &core) {
                record.note(action.words)
                return run
            }
            guard let prompt = core.prompt, let problem = core.problemOfScript() else { return nil }
            keep(problem, &core)
            // What the end of the prompt causes decides about the actions that wait.
            core.awaitsConsequence = true
            return { prompt.events(.unavailable) }
        }
        run?()
    }

    // MARK: - A script that cannot go on

    /// Whether an action waits.
    var hasActions: Bool { core.withLock { !$0.script.isEmpty } }

    /// Keeps a problem for the caller whose prompt is about to end.
    func note(_ problem: ScriptProblem) { core.withLock { keep(problem, &$0) } }

    private func keep(_ problem: ScriptProblem, _ core: inout Core) {
        record.note(problem.message)
        (core.untold, core.problem) = (problem, problem)
    }

    /// Why the script could not go on last; nil when it always could.
    package var scriptProblem: ScriptProblem? { core.withLock { $0.problem } }

    package func takeScriptProblem() -> Failure? {
        let problem = core.withLock { core in
            defer { core.untold = nil }
            return core.untold
        }
        return problem.map { Failure(.notInteractive, $0.message, hint: $0.hint) }
    }

    /// What the action does, if something can take it now; it is out of the line then.
    private func take(_ action: Action, _ core: inout Core) -> (@Sendable () -> Void)? {
        switch action {
        case .touch(let matching):
            guard let armed = core.armed else { return nil }
            core.takeFirst()
            let set = core.state.enrolment
            let event: SensorEvent = matching && !set.isEmpty ? .match(EnrolmentSet(set)) : .noMatch
            return { armed.events(event) }
        case .passcode(let passcode):
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.asks(for: .passcode) else { return nil }
            guard prompt.content.delaySeconds == 0 else { return nil }
            core.takeFirst()
            return { prompt.events(.passcode(passcode)) }
        case .fallback:
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.showsFallback else { return nil }
            core.takeFirst()
            return { prompt.events(.fallback) }
        case .confirm:
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.offersCompanion else { return nil }
            core.takeFirst()
            return { prompt.events(.companionConfirmed) }
        case .sensorFailure:
            guard let armed = core.armed else { return nil }
            core.takeFirst()
            return { armed.events(.failed) }
        case .permission(let isAllowed):
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.asksPermission else { return nil }
            core.takeFirst()
            return { prompt.events(.permission(isAllowed)) }
        case .codeAcknowledged:
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.step == .recoveryCodeShown else {
                return nil
            }
            core.takeFirst()
            return { prompt.events(.codeAcknowledged) }
        case .recoveryCode(let code):
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.step == .recoveryCodeAsked else {
                return nil
            }
            core.takeFirst()
            return { prompt.events(.codeEntered(code)) }
        case .cancel:
            guard let prompt = core.prompt, prompt.isVisible else { return nil }
            core.takeFirst()
            return { prompt.events(.cancel) }
        }
    }

    // MARK: - The controls

    package func apply(_ command: SimulatorCommand) throws(Failure) -> Bool {
        if let words = command.words { record.note(words) }
        switch command {
        case .sensor(let kind): try change { (state) throws(Failure) in state.sensor = kind }
        case .enrol: try changeEnrolment()
        case .unenrol: try change { (state) throws(Failure) in state.enrolment = [] }
        case .replaceFinger:
            guard !core.withLock({ $0.state.enrolment.isEmpty }) else {
                throw Failure(
                    .biometryNotEnrolled, "No finger is enrolled that could be replaced.",
                    hint: "Enrol one with: latchkey sim enrol")
            }
            try changeEnrolment()
        case .touch(let matching): return perform(.touch(matching: matching))
        case .advance(let seconds):
            clock.advance(seconds: Int64(clamping: seconds))
            let offset = clock.offset
            try change { (state) throws(Failure) in state.clockOffset = offset }
        case .reset: core.withLock { $0.script = [] }
        case .lock: report(.locked)
        case .unlock(let byBiometry): report(.unlocked(byBiometry: byBiometry))
        case .background(let isBehind): report(.background(isBehind))
        case .pair(let type): try pair(type, true)
        case .unpair(let type): try pair(type, false)
        case .nearby(let type, let isNear):
            core.withLock { core in
                if isNear { core.companions.nearby.insert(type) } else { core.companions.nearby.remove(type) }
            }
            core.withLock { $0.observer }?()
        case .confirm: return perform(.confirm)
        case .permission(let isAllowed): return perform(.permission(isAllowed))
        case .fail(.sensor): return perform(.sensorFailure)
        case .fail(let failure): core.withLock { _ = $0.failures.insert(failure) }
        case .cancel: return perform(.cancel)
        case .fallback: return perform(.fallback)
        case .enter(let passcode): return perform(.passcode(passcode))
        case .acknowledgeCode: return perform(.codeAcknowledged)
        case .enterCode(let code): return perform(.recoveryCode(code))
        case .tellCode: break
        case .acceptAnyPasscode(let isOn): try acceptAnyPasscode(isOn)
        case .restart: try change { (state) throws(Failure) in state.boots += 1 }
        }
        return true
    }

    /// Whether a script let that go wrong; it does not any more after this.
    func takeFailure(_ failure: SimulatedFailure) -> Bool { core.withLock { $0.failures.remove(failure) != nil } }

    // MARK: - Any passcode

    private func acceptAnyPasscode(_ isOn: Bool) throws(Failure) {
        let isKnown = core.withLock { core in
            guard !isOn || core.passcode != nil else { return false }
            core.acceptsAnyPasscode = isOn
            return true
        }
        guard isKnown else {
            throw Failure(
                .passcodeNotSet, "The simulated machine has not seen its passcode since it was started.",
                hint: "Set it, or enter it once at a prompt.")
        }
    }

    package func passcode(for typed: SecretBytes) -> SecretBytes {
        core.withLock { $0.acceptsAnyPasscode ? $0.passcode ?? typed : typed }
    }

    package var shownRecoveryCode: SecretBytes? { core.withLock { $0.shownCode } }

    package var knownPasscode: SecretBytes? { core.withLock { $0.passcode } }

    package func learn(_ passcode: SecretBytes?) { core.withLock { $0.passcode = passcode } }

    /// Every change of the enrolled fingers gives the set a new name, also when the same finger comes back.
    private func changeEnrolment() throws(Failure) {
        let name = try random.bytes(16).copyBytes()
        try change { (state) throws(Failure) in state.enrolment = name }
    }

    private func change(_ body: (inout WorldState) throws(Failure) -> Void) throws(Failure) {
        var state = core.withLock { $0.state }
        try body(&state)
        try save(state)
        core.withLock { $0.state = state }
        core.withLock { $0.observer }?()
    }
}
