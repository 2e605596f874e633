// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that handles the requests of one connection after its hello.
///
/// The service creates a handler for each connection. A composition may wrap it, as the simulated machine does for the
/// requests that exist only there.
package protocol RequestHandler: AnyObject, Sendable {
    /// Called with the reply: exactly once, or several times for a reply in parts, of which only the last is not
    /// `isPartial`.
    typealias Answer = @Sendable (Reply) -> Void

    /// The reply to the hello that began the connection.
    var welcome: Reply { get }
    /// Handles a request. Requests that need neither the user nor a write nor another thread are answered before this
    /// returns.
    func handle(_ id: UInt64, _ request: Request, _ answer: @escaping Answer)
    /// Cancels a request that waits for the user or for a change of the environment.
    func cancel(_ id: UInt64)
    func close()
}

extension Failure {
    /// The failure for a second hello, which would let another app use the proofs of the first one.
    package static let secondHello = Failure(
        .malformedRequest, "The connection has sent hello already; it can do so only once.",
        hint: "Open another connection for another app.")
}
