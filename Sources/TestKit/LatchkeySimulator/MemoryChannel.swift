// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import LatchkeySystem

/// A connection to the engine in this process: frames pass through a queue in memory instead of the daemon's socket.
final class MemoryChannel: ClientChannel, @unchecked Sendable {
    private struct State: Sendable {
        var frames: [SecretBytes] = []
        var isClosed = false
    }
    private let state = Monitor(State())
    // Set once, before any frame can be sent.
    private var session: HostSession?

    /// Creates a channel to the handler that `begin` creates when the client sends its hello.
    init(_ begin: @escaping @Sendable (Request.Hello) -> any RequestHandler) {
        self.session = HostSession(
            send: { [weak self] in self?.push($0) }, end: { [weak self] in self?.end() }, begin: begin)
    }

    deinit { session?.close() }

    private func push(_ payload: SecretBytes) { state.change { $0.frames.append(payload) } }

    /// Closes the connection, for a restart of the machine. Blocked calls of `receive` end.
    func close() {
        end()
        session?.close()
    }

    private func end() { state.change { $0.isClosed = true } }

    func send(_ payload: SecretBytes) throws(Failure) {
        guard !state.withLock({ $0.isClosed }) else { throw MemoryChannel.restarted }
        session?.receive(payload)
    }

    private static let restarted = Failure(.daemonUnavailable, "The simulated machine was restarted.")

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        // Waits for at most a second: the caller checks its deadline between two calls.
        let result = state.wait(seconds: 1) { state -> Result<SecretBytes, Failure>? in
            // Frames that were sent before the end are still delivered.
            if !state.frames.isEmpty { return .success(state.frames.removeFirst()) }
            return state.isClosed ? .failure(MemoryChannel.restarted) : nil
        }
        return try result?.get()
    }
}
