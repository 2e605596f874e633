// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyAgentProtocol
import LatchkeyClient
import LatchkeyModel
import LatchkeyPromptWords
import LatchkeySystem
import LatchkeyTransport
import LatchkeyWire
import Synchronization

/// The connection between the user's daemon and the program that shows every prompt of this user.
///
/// One thread takes orders; answers may be sent from any thread. The connection lasts until the daemon ends; it can be
/// made anew then.
public final class AgentLink: Sendable {
    /// What the daemon wants on the screen.
    public enum Order: Sendable {
        /// A prompt comes up, in the place of the one before.
        case show(ShownPrompt)
        /// The same prompt says something else.
        case update(ShownPrompt)
        /// The prompt of that number goes away.
        case dismiss(UInt64)
    }

    /// What a person did.
    public enum Answer: Sendable {
        /// The prompt can be seen: only now does a sensor start to watch.
        case visible
        /// There is no place to show it, for instance because the display is gone.
        case unavailable
        /// It went away without an answer.
        case lost
        /// The cancel button.
        case cancel
        /// The fallback button.
        case fallback
        /// Whether the app may look at faces.
        case permission(Bool)
        /// The recovery code is written down.
        case codeAcknowledged
        /// A touch of the simulated sensor; the daemon refuses it in every other tier.
        case simulatedTouch(matching: Bool)
        /// A confirmation on the simulated paired device; refused likewise.
        case simulatedConfirmation
    }

    private let socket: Descriptor
    private let shown = Mutex<PromptState?>(nil)
    /// When the content of what is shown came, in nanoseconds of the boot clock.
    private let contentTime = Mutex<Int64>(0)

    /// Connects to the daemon of the user's store, starts it if need be, and registers.
    ///
    /// Blocks until the daemon has answered, at most some 40 seconds.
    ///
    /// - Throws: `taken` while another agent is registered.
    public init() throws(AgentFailure) {
        do throws(Failure) {
            socket = try DaemonFinder.connect()
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

    /// Waits before the next try, so that a daemon that fails each time is not started without a pause.
    ///
    /// Another daemon than the one of that connection, started by another program, ends the wait.
    ///
    /// - Parameters:
    ///   - link: a connection that is over; nil when none came about, for whichever daemon is there now.
    ///   - seconds: at most so many, and at most a day.
    public static func waitForDaemon(after link: AgentLink?, seconds: Int64) {
        let process = link.flatMap { try? Sockets.peer($0.socket).processID }
        DaemonFinder.waitForOther(
            than: process, until: Uptime.deadline(seconds: min(max(0, seconds), 86_400)))
    }

    /// Waits for the next order; nil when the connection is over. To be called by one thread.
    public func next() -> Order? {
        while let payload = try? Frame.receive(from: socket, until: nil) {
            guard case .message(let number, let message) = try? AgentFrame(decoding: payload) else { break }
            switch message {
            case .show(let prompt):
                let state = PromptState(prompt, processID: getpid())
                contentTime.withLock { $0 = Uptime.nanoseconds }
                shown.withLock { $0 = state }
                return .show(ShownPrompt(state))
            case .update(let content):
                contentTime.withLock { $0 = Uptime.nanoseconds }
                if let prompt = change(number, { $0.show(content) }) {
                    return .update(prompt)
                }
            case .dismiss:
                shown.withLock { if $0?.prompt.id == number { $0 = nil } }
                return .dismiss(number)
            // The daemon says none.
            case .event: return end()
            }
        }
        return end()
    }

    /// Nothing is shown any more: the daemon must not take this for a place to ask.
    private func end() -> Order? {
        close()
        shown.withLock { $0 = nil }
        return nil
    }

    /// Tells what the person did at the prompt of that number. A prompt that is over is told nothing by it.
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
        case .simulatedConfirmation: send(.companionConfirmed, prompt)
        }
    }

    /// The prompt of that number at this moment: while entry is delayed, it says each second how long. nil when it is over.
    public func current(_ prompt: UInt64) -> ShownPrompt? {
        let seconds = (Uptime.nanoseconds - contentTime.withLock { $0 }) / 1_000_000_000
        return change(prompt) { $0.countDown(secondsPassed: seconds) }
    }

    /// Sends a passcode.
    ///
    /// - Parameters:
    ///   - passcode: UTF-8, 1 to 1,024 bytes, copied into memory that is wiped; the caller wipes the original.
    ///   - prompt: the number of the prompt it was typed into.
    /// - Returns: the prompt as it looks while the daemon checks; nil when it is over or the passcode has no such length.
    public func send(passcode: UnsafeRawBufferPointer, prompt: UInt64) -> ShownPrompt? {
        send(passcode, limit: Limits.passcodeBytes, prompt) { .passcode($0) }
    }

    /// Sends a recovery code.
    ///
    /// - Parameters:
    ///   - recoveryCode: UTF-8, 1 to 256 bytes, copied into memory that is wiped; the caller wipes the original.
    ///   - prompt: the number of the prompt it was typed into.
    /// - Returns: the prompt as it looks while the daemon checks; nil when it is over or the code has no such length.
    public func send(recoveryCode: UnsafeRawBufferPointer, prompt: UInt64) -> ShownPrompt? {
        send(recoveryCode, limit: Limits.recoveryCodeBytes, prompt) { .codeEntered($0) }
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

    /// Ends the connection: the daemon goes on without an agent, and `next` returns nil.
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
        // A daemon that is gone is noticed by `next`.
        try? Frame.send(AgentFrame.message(prompt: prompt, .event(event)).encoded(), to: socket)
    }
}
