// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// The hardware of a simulated machine: a scripted sensor and a scripted user.
///
/// Actions are queued. The first one is performed as soon as it is accepted: a touch when the sensor is armed, a
/// passcode when the prompt asks for one, the fallback button when it is shown. Instead of the queued actions, a person
/// can answer every prompt, or cancel it (`SimulatedAnswers`).
package final class SimulatedWorld: BiometricReader, SessionMonitor {
    /// An action of the user.
    package enum Action: Equatable, Sendable {
        case touch(matching: Bool)
        /// A face or eyes in front of the camera.
        case face(matching: Bool)
        case passcode(SecretBytes)
        case fallback
        case cancel
        /// The answer whether the app may use Face ID.
        case permission(Bool)
        /// The confirmation that the recovery code is written down.
        case codeAcknowledged
        case recoveryCode(SecretBytes)
        /// The answer whether a program may read an item of another one.
        case choice(SecretAnswer)
        /// One entry of a new passcode; a prompt asks for two.
        case newPasscode(SecretBytes)
        case sensorFailure
        /// A scan that the sensor cannot use.
        case guidance(SensorGuidance)
        /// The sensor is unplugged while it scans.
        case unplug
    }

    private struct QueuedAction: Sendable {
        var action: Action
        var line: ScriptLine?
    }

    private struct Core: Sendable {
        var state: WorldState
        var armed: (id: UInt64, user: UInt32, events: @Sendable (SensorEvent) -> Void)?
        var prompt: ShownPrompt?
        var script: [QueuedAction] = []
        /// Whether the last action has not had its consequence yet: a change or the end of the prompt.
        var awaitsConsequence = false
        var observer: (@Sendable () -> Void)?
        var report: (@Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void)?
        /// Faults to inject, once each.
        var failures: Set<SimulatedFailure> = []
        /// The recovery code of the latest prompt that showed one.
        var shownCode: SecretBytes?
        /// The latest problem of the script; `untold` is cleared when the caller receives it, `problem` is never
        /// cleared.
        var untold: ScriptProblem?
        var problem: ScriptProblem?
        /// Whether a passcode is dropped while entry is delayed, instead of waiting for the delay to end.
        var isImpatient = false
        /// The runs of `Simulator` whose task was cancelled; while there is one, no prompt of the machine stays.
        var cancelledRuns: Set<UInt64> = []
        var lastRun: UInt64 = 0

        /// How the person answers. The queue of `playing` is used in any case.
        var answers: SimulatedAnswers { isImpatient ? .byRule : state.answers }

        /// What a person who answers every prompt does now; nil without a visible prompt.
        func answer(passcode: SecretBytes?) -> ShownPrompt.Answer? {
            guard let prompt, prompt.isVisible else { return nil }
            return prompt.answer(isArmed: armed != nil, sensor: state.sensor, passcode: passcode, code: shownCode)
        }

        /// The action to perform if it is accepted now; nil if there is none.
        func nextAction(passcode: SecretBytes?) -> Action? {
            switch answers {
            case .byRule: return script.first?.action
            case .never: return prompt?.isVisible == true ? .cancel : nil
            case .always:
                guard case .action(let action) = answer(passcode: passcode) else { return nil }
                return action
            }
        }

        /// Notes that the action is performed. The next one waits for its consequence, so that no action is performed
        /// on a prompt that is about to end.
        mutating func took(_ action: Action) {
            if answers == .byRule { script.removeFirst() } else { prompt?.answer = action }
            awaitsConsequence = prompt != nil
        }

        /// Why neither a queued action nor the person can ever answer the prompt; nil if one can, or if someone else
        /// may.
        func problemOfScript(passcode: SecretBytes?) -> ScriptProblem? {
            guard let prompt, prompt.isVisible else { return nil }
            if !cancelledRuns.isEmpty, prompt.script != nil { return .cancelled(prompt) }
            switch answers {
            case .never: return nil
            case .always:
                guard case .never = answer(passcode: passcode) else { return nil }
                return .noAnswer(prompt)
            case .byRule:
                guard prompt.script != nil else { return nil }
                guard let next = script.first else { return prompt.endsWithScript ? .noAction(prompt) : nil }
                return prompt.neverTakes(next.action, isArmed: armed != nil, sensor: state.sensor)
                    ? .mismatch(next.action, next.line, prompt) : nil
            }
        }

        /// Stores the recovery code when the prompt shows it.
        mutating func seeCode() {
            if let prompt, prompt.content.step == .recoveryCodeShown { shownCode = prompt.content.recoveryCode }
        }
    }

    private let core: Mutex<Core>
    private let random: any RandomSource
    private let clock: VirtualClock
    private let user: UInt32
    /// The identifier of the only session of a simulated machine.
    package static let session = "simulated"
    package let record: SimulatedRecord
    package let passcode = KnownPasscode()
    private let save: @Sendable (WorldState) throws(Failure) -> Void

    /// Creates a world of one user, whose fingers and faces are enrolled; `save` stores the state that outlives the
    /// process.
    package init(
        _ state: WorldState, clock: VirtualClock, random: any RandomSource, user: UInt32,
        save: @escaping @Sendable (WorldState) throws(Failure) -> Void
    ) {
        core = Mutex(Core(state: state))
        self.clock = clock
        self.user = user
        record = SimulatedRecord(clock: clock)
        self.random = random
        self.save = save
    }

    // MARK: - Sensor

    package func state(for user: UInt32) -> SensorState {
        let state = core.withLock { $0.state }
        let isEnrolled = user == self.user && !state.enrolment.isEmpty
        return SensorState(kind: state.sensor, enrolment: isEnrolled ? EnrolmentSet(state.enrolment) : nil)
    }

    package func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        core.withLock { core in
            core.armed = (evaluation, user, events)
            if core.prompt?.prompt.id == evaluation { core.prompt?.wasArmed = true }
        }
        proceed()
    }

    package func disarm(_ evaluation: UInt64) {
        core.withLock { core in if core.armed?.id == evaluation { core.armed = nil } }
    }

    package func observe(_ changed: @escaping @Sendable () -> Void) { core.withLock { $0.observer = changed } }

    // MARK: - Session

    /// The simulated session is at the machine, and its lock is that of the device, which events report.
    package func sessions(of user: UInt32) -> SessionState { SessionState(isLocked: false, biometry: .every) }

    package func observeSession(_ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void) {
        core.withLock { $0.report = report }
    }

    private func report(_ change: SessionEvent.Change) {
        core.withLock { $0.report }?(SessionEvent(user: user, session: Self.session, change)) {}
    }

    // MARK: - Prompt

    /// Registers a prompt that is about to be shown; actions wait until it is visible.
    func promptComes(_ prompt: Prompt, _ events: @escaping @Sendable (PromptEvent) -> Void) {
        core.withLock { core in
            core.prompt = ShownPrompt(prompt, events)
            core.seeCode()
            core.awaitsConsequence = false
        }
    }

    /// Marks a prompt that only the script answers.
    func promptIsUnseen(_ id: UInt64, _ script: PromptScript) {
        core.withLock { core in if core.prompt?.prompt.id == id { core.prompt?.script = script } }
    }

    func promptIsVisible(_ id: UInt64) {
        core.withLock { core in if core.prompt?.prompt.id == id { core.prompt?.isVisible = true } }
        proceed()
    }

    func promptChanges(_ id: UInt64, _ content: PromptContent) {
        core.withLock { core in
            guard core.prompt?.prompt.id == id else { return }
            core.prompt?.content = content
            core.seeCode()
            core.awaitsConsequence = false
        }
    }

    func promptGoes(_ id: UInt64) {
        core.withLock { core in
            guard core.prompt?.prompt.id == id else { return }
            core.prompt = nil
            core.awaitsConsequence = false
        }
    }

    // MARK: - Actions

    /// Appends an action to the queue; `line` is its line in the script.
    ///
    /// - Returns: whether it was performed at once.
    @discardableResult
    package func perform(_ action: Action, _ line: ScriptLine? = nil) -> Bool {
        core.withLock { $0.script.append(QueuedAction(action: action, line: line)) }
        proceed()
        return core.withLock { $0.script.isEmpty }
    }

    /// Runs `body` with only the given actions queued, and restores the queue afterwards. Actions that were not
    /// performed are dropped, as is a passcode while entry is delayed.
    package func playing<R>(_ actions: [Action], _ body: () throws -> R) rethrows -> R {
        let others = core.withLock { core in
            defer { (core.script, core.isImpatient) = (actions.map { QueuedAction(action: $0) }, true) }
            return core.script
        }
        defer {
            core.withLock { core in (core.script, core.isImpatient) = (others, false) }
            proceed()
        }
        return try body()
    }

    /// Performs the next action if it is accepted now. Performs only one, since its consequence decides whether the
    /// next one is accepted.
    func proceed() {
        let known = passcode.known
        let run: (@Sendable () -> Void)? = core.withLock { core in
            if core.isImpatient, case .passcode? = core.script.first?.action, let prompt = core.prompt,
                prompt.isVisible, prompt.content.asks(for: .passcode), prompt.content.delaySeconds > 0
            {
                core.script.removeFirst()
            }
            guard !core.awaitsConsequence else { return nil }
            if core.cancelledRuns.isEmpty, let action = core.nextAction(passcode: known), let run = take(action, &core)
            {
                core.took(action)
                record.record(action.words)
                return run
            }
            guard let prompt = core.prompt, let problem = core.problemOfScript(passcode: known) else { return nil }
            record(problem, &core)
            // Actions that are still queued wait until the prompt has ended.
            core.awaitsConsequence = true
            return { prompt.events(.unavailable) }
        }
        run?()
    }

    /// Presents an enrolled finger or face, or another one, whichever the sensor scans.
    package func scan(matching: Bool) { perform(.scan(matching: matching, core.withLock { $0.state.sensor })) }

    // MARK: - Cancelled tasks

    /// Registers a run of `Simulator`, and returns its number.
    package func beginRun() -> UInt64 {
        core.withLock { core in
            core.lastRun += 1
            return core.lastRun
        }
    }

    /// Ends the shown prompt, and each later one until the run has ended: its task was cancelled.
    package func cancelRun(_ run: UInt64) {
        core.withLock { core in
            core.cancelledRuns.insert(run)
            // An action without a consequence must not hold the prompt.
            core.awaitsConsequence = false
        }
        proceed()
    }

    /// Removes a run. Its task cannot be cancelled any more.
    package func endRun(_ run: UInt64) { core.withLock { _ = $0.cancelledRuns.remove(run) } }

    // MARK: - Scripts that cannot continue

    /// Whether a prompt that neither a terminal nor a window shows can be answered.
    var answersUnseenPrompts: Bool { core.withLock { $0.answers != .byRule || !$0.script.isEmpty } }

    /// The queued actions, each with its line, in the order in which they are performed.
    package var queuedActions: [String] {
        core.withLock { $0.script.map { ($0.line.map { "\($0.words): " } ?? "") + $0.action.words } }
    }

    /// Stores a problem for the caller whose prompt is about to end.
    func record(_ problem: ScriptProblem) { core.withLock { record(problem, &$0) } }

    private func record(_ problem: ScriptProblem, _ core: inout Core) {
        record.record(problem.message)
        (core.untold, core.problem) = (problem, problem)
    }

    /// The latest reason why the script could not continue; nil if it always could.
    package var scriptProblem: ScriptProblem? { core.withLock { $0.problem } }

    /// Returns and clears the failure for the caller whose prompt was ended because the script could not continue; nil
    /// if there is none.
    func takeScriptProblem() -> Failure? {
        let problem = core.withLock { core in
            defer { core.untold = nil }
            return core.untold
        }
        return problem.map { Failure(.notInteractive, "\($0.message)", hint: "\($0.hint)") }
    }

    /// Returns a closure that performs the action if it is accepted now; nil otherwise.
    private func take(_ action: Action, _ core: inout Core) -> (@Sendable () -> Void)? {
        switch action {
        case .touch(let matching):
            guard !core.state.sensor.isCamera else { return nil }
            return scan(matching, core)
        case .face(let matching):
            guard core.state.sensor.isCamera else { return nil }
            return scan(matching, core)
        case .passcode(let passcode):
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.asks(for: .passcode) else { return nil }
            guard prompt.content.delaySeconds == 0 else { return nil }
            return { prompt.events(.passcode(passcode)) }
        case .fallback:
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.showsFallback else { return nil }
            return { prompt.events(.fallback) }
        case .sensorFailure:
            guard let armed = core.armed else { return nil }
            return { armed.events(.failed) }
        case .guidance(let guidance):
            guard let armed = core.armed else { return nil }
            return { armed.events(.guidance(guidance)) }
        case .unplug:
            guard let armed = core.armed else { return nil }
            core.armed = nil
            core.state.sensor = .none
            let (state, observer) = (core.state, core.observer)
            return { [save] in
                armed.events(.disconnected)
                // A state that cannot be saved is still the state of this process; a restart reconnects the sensor.
                _ = try? save(state)
                observer?()
            }
        case .permission(let isAllowed):
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.question != .none else { return nil }
            return { prompt.events(.permission(isAllowed)) }
        case .codeAcknowledged:
            guard let prompt = core.prompt, prompt.isVisible,
                [.recoveryCodeShown, .accountExpired].contains(prompt.content.step)
            else { return nil }
            return { prompt.events(.codeAcknowledged) }
        case .recoveryCode(let code):
            guard let prompt = core.prompt, prompt.isVisible,
                [.recoveryCodeAsked, .recoveryCodeRepeated].contains(prompt.content.step)
            else { return nil }
            return { prompt.events(.codeEntered(code)) }
        case .choice(let answer):
            guard let prompt = core.prompt, prompt.isVisible, prompt.content.step.answers.contains(answer) else {
                return nil
            }
            return { prompt.events(.codeEntered(SecretBytes(answer.rawValue.utf8))) }
        case .newPasscode(let passcode):
            guard let prompt = core.prompt, prompt.isVisible else { return nil }
            let event: PromptEvent
            switch prompt.content.step {
            case .newPasscodeAsked: event = .newPasscodeEntered(passcode)
            case .newPasscodeRepeated: event = .newPasscodeRepeated(passcode)
            case .proof, .recoveryCodeShown, .recoveryCodeAsked, .recoveryCodeRepeated, .accountExpired, .answerAsked,
                .onceAsked:
                return nil
            }
            return { prompt.events(event) }
        case .cancel:
            guard let prompt = core.prompt, prompt.isVisible else { return nil }
            return { prompt.events(.cancel) }
        }
    }

    /// Returns a closure that presents a finger or face; nil if the sensor does not scan.
    private func scan(_ matching: Bool, _ core: Core) -> (@Sendable () -> Void)? {
        guard let armed = core.armed else { return nil }
        let set = core.state.enrolment
        let isEnrolled = matching && !set.isEmpty && armed.user == user
        let event: SensorEvent = isEnrolled ? .match(EnrolmentSet(set), isVirtual: false) : .noMatch
        return { armed.events(event) }
    }

    // MARK: - Commands

    /// Executes a command of a script.
    ///
    /// - Returns: for an action of the user such as a touch, whether it was performed at once; otherwise it is queued
    ///   for the next prompt. True for every other command.
    package func apply(_ command: SimulatorCommand) throws(Failure) -> Bool {
        if let words = command.words { record.record(words) }
        switch command {
        case .sensor(let kind): try change { (state) throws(Failure) in state.sensor = kind }
        case .enroll: try changeEnrolment()
        case .unenroll: try change { (state) throws(Failure) in state.enrolment = [] }
        case .replaceFinger:
            guard !core.withLock({ $0.state.enrolment.isEmpty }) else {
                throw Failure(
                    .biometryNotEnrolled, "No finger is enrolled that could be replaced.",
                    hint: "Enroll one with: latchkey sim enroll")
            }
            try changeEnrolment()
        case .touch(let matching): return perform(.touch(matching: matching))
        case .look(let matching): return perform(.face(matching: matching))
        case .guide(let guidance): return perform(.guidance(guidance))
        case .unplug: return perform(.unplug)
        case .advance(let seconds):
            clock.advance(seconds: Int64(clamping: seconds))
            let offset = clock.offset
            try change { (state) throws(Failure) in state.clockOffset = offset }
        case .reset:
            core.withLock { $0.script = [] }
            proceed()
        case .answer(let answers):
            try change { (state) throws(Failure) in state.answers = answers }
            proceed()
        case .lock: report(.locked)
        case .unlock(let byBiometry): report(.unlocked(byBiometry: byBiometry))
        case .background(let isBehind): report(.background(isBehind))
        case .permission(let isAllowed): return perform(.permission(isAllowed))
        case .fail(.sensor): return perform(.sensorFailure)
        case .fail(let failure): core.withLock { _ = $0.failures.insert(failure) }
        case .cancel: return perform(.cancel)
        case .fallback: return perform(.fallback)
        case .enter(let passcode): return perform(.passcode(passcode))
        case .acknowledgeCode: return perform(.codeAcknowledged)
        case .enterCode(let code): return perform(.recoveryCode(code))
        case .enterNewPasscode(let passcode): return perform(.newPasscode(passcode))
        case .choose(let answer): return perform(.choice(answer))
        case .reportCode: break
        case .acceptAnyPasscode(let isOn): try passcode.acceptAny(isOn)
        case .restart:
            try change { (state) throws(Failure) in state.boots += 1 }
            // The process stays until the command has ended it. No proof, key or unlock of this boot counts in the next one.
            report(.ended)
        }
        return true
    }

    /// Removes an injected fault, and returns whether the script had injected it.
    func takeFailure(_ failure: SimulatedFailure) -> Bool { core.withLock { $0.failures.remove(failure) != nil } }

    /// The recovery code that a prompt showed last; nil if none did.
    package var shownRecoveryCode: SecretBytes? { core.withLock { $0.shownCode } }

    /// Replaces the identifier of the enrolment set by a random one, as every enrolment change does, even if the same
    /// finger is enrolled again.
    private func changeEnrolment() throws(Failure) { try enroll(random.bytes(16).copyBytes()) }

    /// Replaces the identifier of the enrolment set, as a reader does whose fingers are those of an earlier time again.
    package func enroll(_ set: [UInt8]) throws(Failure) {
        try change { (state) throws(Failure) in state.enrolment = set }
    }

    private func change(_ body: (inout WorldState) throws(Failure) -> Void) throws(Failure) {
        var state = core.withLock { $0.state }
        try body(&state)
        try save(state)
        core.withLock { $0.state = state }
        core.withLock { $0.observer }?()
    }
}
