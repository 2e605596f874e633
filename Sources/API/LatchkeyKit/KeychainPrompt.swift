// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// How a keychain call asks the user when the item demands a proof.
public struct KeychainPrompt: Sendable {
    private enum Way: Sendable {
        case standard
        case asking(String)
        case never
        case context(Carried<LAContext>)
    }

    private let way: Way
    private let password: Data?

    private init(_ way: Way, password: Data? = nil) {
        self.way = way
        self.password = password
    }

    /// Prompts with the system's own reason when the item demands a proof.
    public static var standard: KeychainPrompt { KeychainPrompt(.standard) }

    /// Prompts with a reason when the item demands a proof. Apple: `LAContext.localizedReason`.
    ///
    /// - Parameter reason: why the app asks, such as "Open your notes".
    /// - Returns: the prompt.
    public static func asking(_ reason: String) -> KeychainPrompt { KeychainPrompt(.asking(reason)) }

    /// Never prompts: an item that demands a proof fails with `KeychainError.Kind.interactionNotAllowed`. Apple:
    /// `LAContext.interactionNotAllowed`.
    public static var never: KeychainPrompt { KeychainPrompt(.never) }

    /// Uses a context of the caller. Apple: `kSecUseAuthenticationContext`.
    ///
    /// - Parameter context: a context. A call does not prompt for a proof that the context has already, and does not
    ///   invalidate the context.
    /// - Returns: the prompt.
    public static func context(_ context: LAContext) -> KeychainPrompt {
        KeychainPrompt(.context(Carried(value: context)))
    }

    /// Adds the app's own password, for items with `KeychainProtection.applicationPassword`. Apple:
    /// `LAContext.setCredential(_:type:)`.
    ///
    /// A prompt with a context of the caller sets the password on that context, where it stays until the context is
    /// invalidated.
    ///
    /// - Parameter password: 1 to 1,024 bytes. A call with another length fails with `badParameter`.
    /// - Returns: this prompt, with the password.
    public func password(_ password: Data) -> KeychainPrompt { KeychainPrompt(way, password: password) }

    /// Adds the app's own password as UTF-8.
    ///
    /// - Parameter password: 1 to 1,024 bytes in UTF-8.
    /// - Returns: this prompt, with the password.
    public func password(_ password: String) -> KeychainPrompt { self.password(Data(password.utf8)) }

    /// The context of one call, and whether it was created for that call.
    func makeContext() throws(KeychainError) -> (context: LAContext, isOurs: Bool) {
        let context: LAContext
        var isOurs = true
        switch way {
        case .standard: context = LAContext()
        case .asking(let reason):
            context = LAContext()
            context.localizedReason = reason
        case .never:
            context = LAContext()
            context.interactionNotAllowed = true
        case .context(let carried):
            context = carried.value
            isOurs = false
        }
        if let password {
            guard !password.isEmpty, context.setCredential(password, type: .applicationPassword) else {
                throw KeychainError(
                    .badParameter, status: errSecParam, message: "The password has to have 1 to 1,024 bytes.")
            }
        }
        return (context, isOurs)
    }

    /// Dismisses the prompt of a context of the caller, whose proofs end; has no effect on another prompt.
    package func invalidate() { if case .context(let carried) = way { carried.value.invalidate() } }

    /// Whether a keychain call needs a context; false for the standard prompt without a password.
    var needsContext: Bool { if case .standard = way { password != nil } else { true } }
}
