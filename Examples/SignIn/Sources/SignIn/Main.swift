// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKit
import LatchkeySignIn

@main struct Main {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard words.count >= 4, let url = URL(string: words[1]), let command = Command(words[4...]) else {
            print(Command.usage)
            exit(64)
        }
        do throws(SignInError) {
            let server = try RelyingPartyServer(url: url, relyingPartyID: words[2])
            try await SignInApp(server: server, user: words[3]).run(command)
        } catch {
            // The sentences are for people: they contain no token, no code, and nothing that the server sent.
            print("Failed: \(error.errorDescription ?? "")")
            if let advice = error.recoverySuggestion { print("        \(advice)") }
            if let way = otherWay(after: error) { print("        \(way)") }
            exit(1)
        }
    }

    /// Whether the app now asks for the password of the account. A server that cannot be trusted gets no password.
    private static func otherWay(after error: SignInError) -> String? {
        switch error.kind {
        case .cancelled, .biometryLockedOut, .biometryNotAvailable, .biometryNotEnrolled, .enrollmentChanged,
            .notAuthenticated, .passcodeNotSet:
            "Or sign in with the password of your account."
        default: nil
        }
    }
}
