// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import SwiftUI

/// The view that is shown after login.
struct SecretView: View {
    let logOut: @MainActor () -> Void

    var body: some View {
        VStack {
            Text("You are logged in.")
            Button("Log Out", action: logOut)
        }
    }
}

/// Logs in with a fingerprint, a face or the passcode.
struct LoginView: View {
    @State private var service = BiometricService(
        options: AuthenticationOptions(
            reason: "Log in to your account", cancelTitle: "Enter Username/Password"))

    var body: some View {
        Group {
            if service.isAuthenticated {
                SecretView(logOut: service.logout)
            } else {
                VStack {
                    if let sensor = service.support.biometry {
                        Image(systemName: sensor.symbolName).font(.largeTitle)
                    }
                    Button("Authenticate") {
                        Task { await service.authenticate() }
                    }
                    .disabled(service.isAuthenticating)
                    // Face recognition scans at once, so its warning must be shown before the button is used.
                    if let warning = service.support.biometry?.immediateScanWarning {
                        Text(warning).font(.footnote)
                    }
                    if let error = service.error {
                        Text(error)
                        if let suggestion = service.failure?.recoverySuggestion { Text(suggestion).font(.footnote) }
                    }
                }
            }
        }
        .onAppear { service.checkAvailability() }
    }
}
