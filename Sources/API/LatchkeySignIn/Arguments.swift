// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The limits of what servers accept, and of what a prompt shows.
enum Arguments {
    static func checkUser(_ user: String) throws(SignInError) {
        try check((1...128).contains(user.utf8.count) && isShown(user), .user)
    }

    static func checkDeviceName(_ name: String) throws(SignInError) {
        try check(name.utf8.count <= 64 && (name.isEmpty || isShown(name)), .deviceName)
    }

    static func checkEnrolmentCode(_ code: String) throws(SignInError) {
        try check((1...128).contains(code.utf8.count) && isShown(code), .enrollmentCode)
    }

    /// The prompt shows 240 characters: the act, the name of the relying party (100) and the words between them.
    static func checkAct(_ act: String) throws(SignInError) {
        try check((1...120).contains(act.count) && act.utf8.count <= 512 && isShown(act), .act)
    }

    static func checkTarget(_ target: RevocationTarget) throws(SignInError) {
        switch target {
        case .thisKey, .everyKey: break
        case .key(let identifier): try check(identifier.count == 32, .revocationTarget)
        case .device(let name): try check((1...64).contains(name.utf8.count) && isShown(name), .revocationTarget)
        }
    }

    private static func check(_ isAllowed: Bool, _ argument: SignInError.Argument) throws(SignInError) {
        guard isAllowed else { throw SignInError(.invalidArgument(argument)) }
    }

    /// Whether each character is one that a prompt shows. A text of which the user sees another one is not what the user
    /// approves.
    private static func isShown(_ text: String) -> Bool {
        guard text.first?.isWhitespace == false, text.last?.isWhitespace == false else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            guard !scalar.properties.isDefaultIgnorableCodePoint else { return false }
            return switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
