// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import Synchronization

/// A connection to the user's daemon that another thread can end, and with it the call that waits.
final class Connection: RequestCaller, Sendable {
    private struct State: Sendable {
        var socket: Descriptor?
        var isCancelled = false
    }

    private let state: Shared
    private let client: Client

    /// Captured by the client, which the connection owns.
    private final class Shared: Sendable {
        let value = Mutex(State())
    }

    /// - Parameter startsDaemon: whether the first call starts the user's daemon if it does not run; otherwise the call fails.
    init(startsDaemon: Bool = true) {
        let state = Shared()
        self.state = state
        client = Client(
            application: Client.applicationName, groups: Client.declaredNames
        ) { () throws(Failure) in
            // A cancelled operation must not be repeated on a new connection, nor start a daemon.
            guard !state.value.withLock(\.isCancelled) else { throw Failure(.appCancel) }
            guard let socket = startsDaemon ? try DaemonFinder.connect() : try DaemonFinder.connectToRunning() else {
                throw Failure(.daemonUnavailable)
            }
            // It may have been cancelled meanwhile.
            let isCancelled = state.value.withLock { state in
                state.socket = socket
                return state.isCancelled
            }
            guard !isCancelled else { throw Failure(.appCancel) }
            return SocketChannel(socket)
        }
    }

    /// Ends the connection; the daemon then dismisses its prompt. Calls fail from now on.
    func cancel() {
        state.value.withLock { state in
            state.isCancelled = true
            if let socket = state.socket { Sockets.shutDown(socket) }
        }
    }

    func call<Call: DaemonRequest>(_ request: Call) throws(Failure) -> Call.Response {
        do throws(Failure) {
            return try client.call(request)
        } catch {
            throw state.value.withLock(\.isCancelled) ? Failure(.appCancel) : error
        }
    }
}
