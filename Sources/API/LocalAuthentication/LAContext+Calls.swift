// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
package import LatchkeyModel
import Security

/// The parts of a context that keychain calls and key operations use.
extension LAContext: AuthenticationContext {
    package func client() throws(Failure) -> Client { try engine.get() }

    package var prompting: Prompting { state.withLock { $0.prompting } }

    package var reuseSeconds: UInt64 {
        let seconds = touchIDAuthenticationAllowableReuseDuration
        return seconds > 0 ? UInt64(min(seconds, LATouchIDAuthenticationMaximumAllowableReuseDuration)) : 0
    }

    package var applicationPassword: SecretBytes? { state.withLock { $0.credentials[.applicationPassword] } }

    /// Returns the handle of this context on the current connection, and creates one if there is none.
    ///
    /// After a reconnection the context gets a new handle, without the proofs of the old one.
    package func handle() throws(Failure) -> ContextHandle {
        try checkIsValid()
        let client = try engine.get()
        let current = client.generation
        if let known = state.withLock({ $0.generation == current ? $0.handle : nil }) { return known }
        let (made, generation) = try client.callWithGeneration(Request.CreateContext())
        // Two threads may create a handle at the same time: the first one is used, the other is invalidated below.
        let stored: ContextHandle? = state.withLock { state in
            guard !state.isInvalidated else { return nil }
            if let handle = state.handle, state.generation == generation { return handle }
            state.handle = made
            state.generation = generation
            return made
        }
        if stored != made { try? client.call(Request.InvalidateContext(made)) }
        guard let stored else { throw Failure(.invalidContext, "The context was invalidated before.") }
        return stored
    }
}
