// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// Chooses the engine for a call of the API modules: the simulated world in scope, the process's default world, or the
/// user's daemon.
package enum ClientScope {
    /// The simulated world of the current task, if a test has set one.
    @TaskLocal package static var world: Client?

    private struct Defaults: Sendable {
        var client: Client?
        var usesWorlds = false
    }
    private static let defaults = Mutex(Defaults())

    /// Makes each call without a world in scope fail in this process from now on, unless a default is set.
    package static func requireWorld() { defaults.withLock { $0.usesWorlds = true } }

    /// Sets the world for calls without one in scope.
    package static func setDefault(_ client: Client?) { defaults.withLock { $0.client = client } }

    /// The engine for a call: the world in scope, the default, or else `daemon`. Throws after `requireWorld` instead of
    /// using the daemon.
    package static func current(orElse daemon: @autoclosure () -> Client) throws(Failure) -> Client {
        if let world { return world }
        let defaults = defaults.withLock { $0 }
        if let client = defaults.client { return client }
        guard !defaults.usesWorlds else {
            throw Failure(
                .daemonUnavailable, "This process simulates, and no world is in scope here.",
                hint: "Call from within Simulator.run { }, or set one with Simulator.makeDefault().")
        }
        return daemon()
    }
}

/// How `Security` uses an `LAContext`, whose class is defined in a module that imports `Security`.
package protocol AuthenticationContext: AnyObject {
    func client() throws(Failure) -> Client
    /// The context's handle on the current connection.
    func handle() throws(Failure) -> ContextHandle
    var prompting: Prompting { get }
    /// Seconds after an unlock of the device by biometry in which its prompts are skipped; 0 for never.
    var reuseSeconds: UInt64 { get }
    /// The app's own password, if one was set (Apple: `setCredential`).
    var applicationPassword: SecretBytes? { get }
}
