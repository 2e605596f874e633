// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import LatchkeyKit
import LatchkeySignIn

/// An app that signs in with a finger, and asks for the password of the account when that is not possible.
struct SignInApp {
    private let server: RelyingPartyServer
    private let user: String

    init(server: RelyingPartyServer, user: String) {
        self.server = server
        self.user = user
    }

    func run(_ command: Command) async throws(SignInError) {
        switch command {
        case .support: printSupport()
        case .register(let code):
            // The prompt for the finger is shown by the system, not by this app.
            let credential = try await DeviceCredential.register(
                user: user, with: server, enrollmentCode: code, deviceName: "example")
            print("Registered. \(server.relyingPartyID) knows the public key \(fingerprint(credential)).")
        case .signIn(let act): try await signIn(act)
        case .administration: try await openAdministration()
        case .rotate:
            let credential = try await credential().rotate()
            print("Replaced. \(server.relyingPartyID) knows the public key \(fingerprint(credential)) now.")
        case .revoke:
            try await credential().revoke()
            print("Revoked. This key cannot sign in any more.")
        case .remove:
            try credential().remove()
            print("Removed the key of this machine.")
        }
    }

    /// What the app offers, which it asks anew each time: fingers, lockout and permissions change.
    private func printSupport() {
        let support = BiometricAuth().supportedBiometry
        if let biometry = support.biometry {
            print("You can sign in with \(biometry.name).")
        } else {
            print("\(support.explanation ?? "") Sign in with your password.")
        }
    }

    private func signIn(_ act: String?) async throws(SignInError) {
        let credential = try credential()
        let session = try await credential.signIn()
        print("Signed in as \(session.user), until \(session.expires.formatted(.iso8601)).")
        try await printDescription(of: session)
        if let act {
            try await credential.stepUp(act, in: session)
            print("Approved: \(act).")
        }
        try await session.signOut()
        print("Signed out.")
    }

    /// Two touches: one signs in, the other one opens the page.
    private func openAdministration() async throws(SignInError) {
        let credential = try credential()
        let session = try await credential.signIn()
        let address = try await credential.administrationAddress(in: session)
        print("Open this within a minute; it can be used once:")
        print(address.absoluteString)
        try await session.signOut()
    }

    /// A request of the app's own. The token of the session is in its header, and is never printed.
    private func printDescription(of session: SignInSession) async throws(SignInError) {
        var request = URLRequest(url: server.url.appending(path: "/v1/session"))
        try session.authorize(&request)
        let connections = URLSession(configuration: .ephemeral, delegate: RefusesRedirections(), delegateQueue: nil)
        defer { connections.finishTasksAndInvalidate() }
        do {
            let (data, response) = try await connections.data(for: request)
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { return }
            print("The server says about the session: \(String(decoding: data, as: UTF8.self))")
        } catch {
            print("The server says nothing about the session.")
        }
    }

    private func credential() throws(SignInError) -> DeviceCredential {
        if let credential = try DeviceCredential.existing(user: user, for: server) { return credential }
        print("This machine has no key of \(user) for \(server.relyingPartyID). Register it with a code first.")
        exit(1)
    }

    private func fingerprint(_ credential: DeviceCredential) -> String {
        credential.identifier.prefix(6).map { String(format: "%02x", $0) }.joined(separator: ":")
    }
}
