// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
package import LatchkeyWords
import Synchronization

/// An agent of ssh(1) whose keys are keys of the enclave. What it signs and refuses is in `docs/use/ssh.md`.
package struct SSHAgent: Sendable {
    /// The choices of the user.
    package struct Options: Sendable {
        /// Whether a login is signed that no session is bound to.
        package var allowsUnbound = false
        /// How long a proof may be reused; 0 for never.
        package var reuseSeconds: Int64 = 0

        package init() {}
    }

    let store: any SSHKeyStore
    let signer: SSHSigner
    let options: Options
    let hosts: KnownHostsFiles
    let lock: AgentLock
    let idleSeconds: Int64
    /// The language of prompts and of the log.
    let words: Words
    private let lines: LimitedLog
    private let now: @Sendable () -> Int64

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - words: the language of prompts and of the log.
    ///   - now: a monotonic clock, in nanoseconds: the one of `Uptime`, or a stopped one.
    ///   - log: receives each refusal, as a line of text.
    package init(
        _ store: any SSHKeyStore, _ options: Options = Options(), hosts: KnownHostsFiles = .standard,
        idleSeconds: Int64 = SSHAgentLimits.idleSeconds, words: Words = .plainEnglish,
        now: @escaping @Sendable () -> Int64 = { Uptime.nanoseconds },
        log: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.options = options
        self.hosts = hosts
        self.idleSeconds = idleSeconds
        self.now = now
        self.words = words
        lines = LimitedLog(words: words, now: now, write: log)
        signer = SSHSigner(store, reuseSeconds: options.reuseSeconds, now: now)
        lock = AgentLock(now: now)
    }

    func log(_ line: String) { lines.add(line) }

    /// What an error says, in the language of the log.
    func text(of error: Failure) -> String { words(error.text) }

    func deadline(_ seconds: Int64) -> Int64 { now() + seconds * 1_000_000_000 }

    /// The keys, or none while the agent is locked.
    func identities() -> SSHAgentReply {
        guard !lock.isLocked else { return .identities([]) }
        do throws(Failure) {
            return .identities(try store.keys().map { SSHAgentReply.Identity(blob: $0.blob, comment: $0.name) })
        } catch {
            log(words("the keys cannot be listed: \(text(of: error))"))
            return .failure
        }
    }

    /// Locks the agent and revokes every proof.
    func lock(_ passphrase: SecretBytes) -> Bool {
        guard lock.lock(passphrase) else { return false }
        signer.forgetProofs()
        return true
    }
}

/// Passes lines on, at most `lines` in `seconds`, and then their number: a program that sends garbage fills no journal.
final class LimitedLog: Sendable {
    private struct State: Sendable {
        var end: Int64 = 0
        var written = 0
        var dropped = 0
    }

    static let lines = 30
    static let seconds: Int64 = 60
    private let state = Mutex(State())
    private let words: Words
    private let now: @Sendable () -> Int64
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - words: the language of the line with the number.
    ///   - now: a monotonic clock, in nanoseconds.
    init(words: Words, now: @escaping @Sendable () -> Int64, write: @escaping @Sendable (String) -> Void) {
        (self.words, self.now, self.write) = (words, now, write)
    }

    func add(_ line: String) {
        let now = now()
        let (dropped, isWritten) = state.withLock { state in
            var dropped = 0
            if now >= state.end {
                dropped = state.dropped
                state = State(end: now + Self.seconds * 1_000_000_000)
            }
            guard state.written < Self.lines else {
                state.dropped += 1
                return (dropped, false)
            }
            state.written += 1
            return (dropped, true)
        }
        if dropped > 0 { write(words("\(dropped) lines were left out")) }
        if isWritten { write(line) }
    }
}
