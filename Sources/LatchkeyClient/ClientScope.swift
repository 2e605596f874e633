// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// Which engine a call of the API modules goes to: a simulated world in scope, the process's default world, or the
/// user's daemon.
package enum ClientScope {
    /// The world of the current task, if a test set one.
    @TaskLocal package static var world: Client?

    private struct Defaults: Sendable {
        var client: Client?
        var usesWorlds = false
    }
    private static let defaults = Mutex(Defaults())

    /// From now on a call without a world in scope is an error in this process, unless a default is set.
    package static func requireWorld() { defaults.withLock { $0.usesWorlds = true } }

    /// Sets the world of calls that have none in scope.
    package static func setDefault(_ client: Client?) { defaults.withLock { $0.client = client } }

    /// The engine to ask; `daemon` where nothing simulates.
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

/// How an `LAContext` reaches `Security` although the one module does not know the other's class.
package protocol AuthenticationContext: AnyObject {
    /// The engine it belongs to.
    func client() throws(Failure) -> Client
    /// Its handle on the current connection.
    func handle() throws(Failure) -> ContextHandle
    /// What its prompts say.
    var prompting: Prompting { get }
    /// The app's own password, where it was handed over (Apple: `setCredential`).
    var applicationPassword: SecretBytes? { get }
}
