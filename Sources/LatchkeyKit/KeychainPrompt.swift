// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// How a keychain call asks the person, when the item demands a proof.
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

    /// The system's own words.
    public static var standard: KeychainPrompt { KeychainPrompt(.standard) }

    /// Asks with a reason, such as "Open your notes".
    public static func asking(_ reason: String) -> KeychainPrompt { KeychainPrompt(.asking(reason)) }

    /// Asks nobody: an item that demands a proof fails with `KeychainError.Kind.interactionNotAllowed`.
    public static var never: KeychainPrompt { KeychainPrompt(.never) }

    /// Uses a context: one that was evaluated asks no second time. It is not invalidated.
    public static func context(_ context: LAContext) -> KeychainPrompt {
        KeychainPrompt(.context(Carried(value: context)))
    }

    /// Hands over the app's own password for items with `KeychainProtection.applicationPassword`; 1 to 1,024 bytes.
    ///
    /// With `.context`, the context keeps the password until it is invalidated.
    public func password(_ password: Data) -> KeychainPrompt { KeychainPrompt(way, password: password) }

    /// Hands over the app's own password as UTF-8.
    public func password(_ password: String) -> KeychainPrompt { self.password(Data(password.utf8)) }

    /// The context of one call, and whether the call made it.
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

    /// Whether a call needs a context at all.
    var needsContext: Bool { if case .standard = way { password != nil } else { true } }
}
