// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
package import LatchkeyModel
import Security

/// What calls of the keychain and of keys take from a context.
extension LAContext: AuthenticationContext {
    package func client() throws(Failure) -> Client { try engine.get() }

    package var prompting: Prompting { state.withLock { $0.prompting } }

    package var applicationPassword: SecretBytes? { state.withLock { $0.credentials[.applicationPassword] } }

    /// The handle on the connection as it is now. After a connection broke a new one is made, and nothing that was
    /// proven comes with it.
    package func handle() throws(Failure) -> ContextHandle {
        try checkIsValid()
        let client = try engine.get()
        let current = client.generation
        if let known = state.withLock({ $0.generation == current ? $0.handle : nil }) { return known }
        let (reply, generation) = try client.callWithGeneration(.createContext)
        guard case .context(let made) = reply else {
            throw Failure(.internalFailure, "The daemon's answer is of another kind.")
        }
        // Two threads may get here at once: the first handle is kept.
        let kept: ContextHandle? = state.withLock { state in
            guard !state.isInvalidated else { return nil }
            if let handle = state.handle, state.generation == generation { return handle }
            state.handle = made
            state.generation = generation
            return made
        }
        if kept != made { _ = try? client.call(.invalidateContext(made)) }
        guard let kept else { throw Failure(.invalidContext, "The context was invalidated before.") }
        return kept
    }
}
