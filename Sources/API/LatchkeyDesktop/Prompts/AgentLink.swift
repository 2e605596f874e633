// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeyPrompts
import LatchkeySystem
import LatchkeyWire
import LatchkeyWords
import Synchronization

/// The connection of the program that shows the user's prompts (the agent) to the user's daemon.
///
/// One thread calls `next`; answers may be sent from any thread. The connection lasts until the daemon ends; create a
/// new `AgentLink` then.
public final class AgentLink: Sendable {
    /// The version of this release, as `latchkey-agent --version` prints it.
    public static let version = productVersion

    /// Brings the program into a known state, whatever the one that started it left: closed standard streams get a place on
    /// which every use fails, and no write raises a signal. The first call of a program.
    ///
    /// - Returns: the arguments after the program's name. One that is not UTF-8 ends the program with status 64.
    public static func beginProgram() -> [String] { ProgramStart.begin() }

    /// An instruction of the daemon about the prompt on the screen.
    public enum Order: Sendable {
        /// Show this prompt, in place of the previous one.
        case show(ShownPrompt)
        /// Show new content for the same prompt.
        case update(ShownPrompt)
        /// Remove the prompt with this `ShownPrompt.number`.
        case dismiss(UInt64)
        /// Read the audit log: it has something that a person should learn at once, or the keychain was unlocked after that.
        case news
    }

    /// What the user or the agent did at a prompt.
    public enum Answer: Sendable {
        /// The prompt is visible: the daemon arms the sensor only after this.
        case visible
        /// The prompt cannot be shown, for instance because the display is gone.
        case unavailable
        /// The prompt disappeared without an answer.
        case lost
        /// The user pressed the cancel button.
        case cancel
        /// The user pressed the fallback button.
        case fallback
        /// Whether the user allows the app to use the camera.
        case permission(Bool)
        /// The user confirmed that the recovery code is written down.
        case codeAcknowledged
        /// A touch of the simulated sensor, by an enrolled finger if `matching`. Ignored outside the simulated tier.
        case simulatedTouch(matching: Bool)
    }

    private let socket: Descriptor
    private let words = Words.installed(isolates: true, isTerminal: false)
    private let shown = Mutex<PromptState?>(nil)
    /// When the content of the current prompt arrived, in nanoseconds of CLOCK_BOOTTIME.
    private let contentTime = Mutex<Int64>(0)

    /// Connects to the service that shows the user's prompts, starting it if necessary, and registers as the agent of
    /// the login session.
    ///
    /// Blocks until the daemon has answered, for at most about 40 seconds.
    ///
    /// - Throws: `AgentFailure` with code `taken` while another agent is registered, `unreachable` when the daemon
    ///   cannot be reached or ends the connection, and `notUnderstood` when its answer cannot be read.
    public init() throws(AgentFailure) {
        do throws(Failure) {
            socket = try DaemonFinder.connectAsAgent()
        } catch {
            throw AgentFailure(error)
        }
        guard (try? Frame.send(AgentFrame.register.encoded(), to: socket)) != nil,
            let payload = try? Frame.receive(from: socket, until: Uptime.deadline(seconds: Limits.requestSeconds))
        else { throw .ended }
        switch try? AgentFrame(decoding: payload) {
        case .registered: break
        case .refused(.taken): throw .taken
        default: throw .notUnderstood
        }
    }

    /// Blocks before the next attempt to connect, so that a daemon that fails each time is not restarted without a
    /// pause.
    ///
    /// Returns early when a daemon other than the one of `link` starts to listen.
    ///
    /// - Parameters:
    ///   - link: a connection that has ended; nil when none was made, which excludes the daemon that is running now.
    ///   - seconds: the longest time to wait, 0 to 86,400; other values are clamped.
    public static func waitForDaemon(after link: AgentLink?, seconds: Int64) {
        let process = link.flatMap { try? Sockets.peer($0.socket).processID }
        DaemonFinder.waitForOther(than: process, until: Uptime.deadline(seconds: min(max(0, seconds), 86_400)))
    }

    /// Blocks until the next order arrives. Must be called by one thread only.
    ///
    /// - Returns: the order; nil when the connection has ended.
    public func next() -> Order? {
        while let payload = try? Frame.receive(from: socket, until: nil) {
            let frame = try? AgentFrame(decoding: payload)
            if frame == .news { return .news }
            guard case .message(let number, let message)? = frame else { break }
            switch message {
            case .show(let prompt):
                var state = PromptState(prompt, processID: getpid(), words: words)
                let appearance = CallerAppearance(prompt, words)
                if let name = appearance.name { state.callerName = name }
                state.callerIcon = appearance.icon
                state.isOwnProgram = appearance.isOwnProgram
                contentTime.withLock { $0 = Uptime.nanoseconds }
                shown.withLock { $0 = state }
                return .show(ShownPrompt(state))
            case .update(let content):
                contentTime.withLock { $0 = Uptime.nanoseconds }
                if let prompt = change(number, { $0.show(content) }) { return .update(prompt) }
            case .dismiss:
                shown.withLock { if $0?.prompt.id == number { $0 = nil } }
                return .dismiss(number)
            // The daemon never sends events.
            case .event: return end()
            }
        }
        return end()
    }

    /// Closes the connection, so that the daemon no longer sends prompts here, and forgets the current prompt.
    private func end() -> Order? {
        close()
        shown.withLock { $0 = nil }
        return nil
    }

    /// Reports an answer to the daemon, which ignores answers to prompts that have ended.
    ///
    /// - Parameters:
    ///   - answer: what the user or the agent did.
    ///   - prompt: the `ShownPrompt.number` of the prompt.
    public func send(_ answer: Answer, prompt: UInt64) {
        switch answer {
        case .visible: send(.visible, prompt)
        case .unavailable: send(.unavailable, prompt)
        case .lost: send(.lost, prompt)
        case .cancel: send(.cancel, prompt)
        case .fallback: send(.fallback, prompt)
        case .permission(let isAllowed): send(.permission(isAllowed), prompt)
        case .codeAcknowledged: send(.codeAcknowledged, prompt)
        case .simulatedTouch(let matching): send(.simulatedTouch(matching: matching), prompt)
        }
    }

    /// The current state of a prompt. While entry is delayed, its `wish` contains the remaining time, so call this each
    /// second.
    ///
    /// - Parameter prompt: the `ShownPrompt.number` of the prompt.
    /// - Returns: the prompt; nil when it has ended.
    public func current(_ prompt: UInt64) -> ShownPrompt? {
        let seconds = (Uptime.nanoseconds - contentTime.withLock { $0 }) / 1_000_000_000
        return change(prompt) { $0.countDown(secondsPassed: seconds) }
    }

    /// Sends a passcode to the daemon, which checks it.
    ///
    /// - Parameters:
    ///   - passcode: UTF-8, 1 to 1,024 bytes, copied into memory that is wiped; the caller wipes the original.
    ///   - prompt: the `ShownPrompt.number` of the prompt into which it was typed.
    /// - Returns: the prompt to show while the daemon checks, or with a hint when a recovery code was typed in place of the
    ///   passcode; nil when it has ended or the length is out of range.
    public func send(passcode: UnsafeRawBufferPointer, prompt: UInt64) -> ShownPrompt? {
        var isHeldBack = false
        let held = change(prompt) { isHeldBack = $0.holdsBack(SecretBytes(copying: passcode)) }
        return isHeldBack ? held : send(passcode, limit: Limits.passcodeBytes, prompt) { .passcode($0) }
    }

    /// Confirms that the recovery code is noted. Of a backup's code, the prompt first asks for the end, which
    /// `send(recoveryCode:prompt:)` compares; the daemon asks for that of a keychain's code itself.
    ///
    /// - Parameter prompt: the `ShownPrompt.number` of the prompt.
    /// - Returns: the prompt to show; nil when the daemon was told or the prompt has ended.
    public func acknowledgeCode(prompt: UInt64) -> ShownPrompt? {
        var asks = false
        let asking = change(prompt) { asks = $0.askForEnd() }
        guard !asks else { return asking }
        send(.codeAcknowledged, prompt)
        return nil
    }

    /// Passes the recovery code that a prompt shows to `body`.
    ///
    /// - Parameters:
    ///   - prompt: the `ShownPrompt.number` of the prompt.
    ///   - body: gets UTF-8 in memory that is wiped later; called on this thread, and not at all if no code is shown.
    public func withRecoveryCode(prompt: UInt64, _ body: (UnsafeRawBufferPointer) -> Void) {
        let code = shown.withLock { shown in
            shown?.prompt.id == prompt && shown?.content.step == .recoveryCodeShown ? shown?.content.recoveryCode : nil
        }
        code?.withBytes(body)
    }

    /// Sends a recovery code to the daemon, which checks it. The end of a backup's code is compared here, and the daemon is
    /// told that the code is noted.
    ///
    /// - Parameters:
    ///   - recoveryCode: UTF-8, 1 to 256 bytes, copied into memory that is wiped; the caller wipes the original.
    ///   - prompt: the `ShownPrompt.number` of the prompt into which it was typed.
    /// - Returns: the prompt to show while the daemon checks, or with the code once more if its end was another one; nil when
    ///   the prompt has ended or the length is out of range.
    public func send(recoveryCode: UnsafeRawBufferPointer, prompt: UInt64) -> ShownPrompt? {
        guard (1...Limits.recoveryCodeBytes).contains(recoveryCode.count) else { return nil }
        var (asked, isRight) = (false, false)
        let compared = change(prompt) { state in
            asked = state.asksForEnd
            guard asked else { return }
            isRight = state.checkEnd(SecretBytes(copying: recoveryCode))
            if isRight { state.entry = .checking }
        }
        if asked {
            if isRight { send(.codeAcknowledged, prompt) }
            return compared
        }
        return send(recoveryCode, limit: Limits.recoveryCodeBytes, prompt) { .codeEntered($0) }
    }

    /// Sends an entry of a new passcode to the daemon, which asks for it twice and compares the entries.
    ///
    /// - Parameters:
    ///   - newPasscode: UTF-8, 1 to 1,024 bytes, copied into memory that is wiped; the caller wipes the original. If it
    ///     has too few characters, the daemon updates the prompt with a `feedback` that says so.
    ///   - prompt: the `ShownPrompt.number` of the prompt into which it was typed.
    /// - Returns: the prompt to show while the daemon checks; nil when it has ended, asks for something else, or the
    ///   length is out of range.
    public func send(newPasscode: UnsafeRawBufferPointer, prompt: UInt64) -> ShownPrompt? {
        // The step changes only after an answer, so it is still the one in which the entry was typed.
        switch shown.withLock({ $0?.prompt.id == prompt ? $0?.content.step : nil }) {
        case .newPasscodeAsked: send(newPasscode, limit: Limits.passcodeBytes, prompt) { .newPasscodeEntered($0) }
        case .newPasscodeRepeated: send(newPasscode, limit: Limits.passcodeBytes, prompt) { .newPasscodeRepeated($0) }
        case .proof, .recoveryCodeShown, .recoveryCodeAsked, .recoveryCodeRepeated, .accountExpired, .answerAsked,
            .onceAsked, nil:
            nil
        }
    }

    /// Sends whether the program may read the item. Only the first answer to a prompt is sent, and only one that it offers.
    ///
    /// - Parameters:
    ///   - answer: the answer of the button that the user pressed.
    ///   - prompt: the `ShownPrompt.number` of the prompt.
    /// - Returns: the prompt to show until it is dismissed; nil when it has ended or asks for something else.
    public func choose(_ answer: ShownPrompt.ReadAnswer, prompt: UInt64) -> ShownPrompt? {
        var isAsked = false
        let sending = change(prompt) { state in
            isAsked = state.content.step.answers.contains(answer.stored) && state.entry != .checking
            if isAsked { (state.chosen, state.entry) = (answer.stored, .checking) }
        }
        guard isAsked else { return nil }
        send(.codeEntered(SecretBytes(answer.stored.rawValue.utf8)), prompt)
        return sending
    }

    private func send(
        _ typed: UnsafeRawBufferPointer, limit: Int, _ prompt: UInt64, _ event: (SecretBytes) -> PromptEvent
    ) -> ShownPrompt? {
        guard (1...limit).contains(typed.count), let checking = change(prompt, { $0.entry = .checking }) else {
            return nil
        }
        send(event(SecretBytes(copying: typed)), prompt)
        return checking
    }

    /// Ends the connection: the daemon continues without an agent, and `next` returns nil. May be called from any
    /// thread.
    public func close() { shutdown(socket.number, CInt(SHUT_RDWR)) }

    private func change(_ number: UInt64, _ body: (inout PromptState) -> Void) -> ShownPrompt? {
        shown.withLock { shown in
            guard var state = shown, state.prompt.id == number else { return nil }
            body(&state)
            shown = state
            return ShownPrompt(state)
        }
    }

    private func send(_ event: PromptEvent, _ prompt: UInt64) {
        // `next` reports the end of the connection.
        try? Frame.send(AgentFrame.message(prompt: prompt, .event(event)).encoded(), to: socket)
    }
}
