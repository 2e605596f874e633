// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import Observation
import SwiftUI

/// The note of the tutorial: one text, protected by a password and, if available, also by biometry.
///
/// The text itself is stored in the keychain, not only the password, so that no unprotected copy of it is on disk.
@MainActor
@Observable
final class NoteData {
    private static let service = "QuickNote"
    private static let password = KeychainEntry.password(service: service, account: "unlockPassword")
    private static let note = KeychainEntry.password(service: service, account: "note")
    private static let noteByFace = KeychainEntry.password(service: service, account: "note.biometry")

    private let store = KeychainStore()
    private let auth = BiometricAuth()
    /// The password entered in this session, used to save changes.
    @ObservationIgnored private var sessionPassword: String?

    var text = ""
    private(set) var isLocked = true
    var showsPasswordView = false
    private(set) var message: String?

    var lockSymbol: String {
        isLocked ? auth.supportedBiometry.biometry?.symbolName ?? "lock" : "lock.open"
    }

    /// Unlocks with biometry; shows the password view when it fails, is cancelled or is not available.
    func unlock() async {
        do {
            let proof = try await auth.authenticate(
                .biometry(reason: "Authenticate to unlock your note.", fallbackTitle: "Use Password"))
            text = try await store.string(of: Self.noteByFace, prompt: proof)
            isLocked = false
        } catch {
            showsPasswordView = true
        }
    }

    /// Unlocks with the password; sets `message` when it is wrong.
    func unlock(password: String) async {
        do throws(KeychainError) {
            text = try await store.string(of: Self.note, prompt: .standard.password(password))
            sessionPassword = password
            isLocked = false
            showsPasswordView = false
        } catch {
            message = error.kind == .authenticationFailed ? "That is not the password." : error.message
        }
    }

    /// Stores the text protected by the password and, if available, a copy protected by biometry.
    func save(password: String? = nil) async {
        guard let password = password ?? sessionPassword else { return }
        do throws(KeychainError) {
            try await store.store(
                text, in: Self.note, protection: .applicationPassword, prompt: .standard.password(password))
            // Removed first, because updating a protected item would prompt.
            try await store.remove(Self.noteByFace)
            if auth.supportedBiometry.biometry != nil {
                try await store.store(text, in: Self.noteByFace, protection: .currentBiometry)
            }
        } catch {
            message = error.message
        }
    }

    /// Locks the note and drops its text.
    func lock() {
        (text, sessionPassword, isLocked) = ("", nil, true)
    }
}

/// The toolbar above the text.
struct ToolbarView: View {
    let data: NoteData

    var body: some View {
        HStack {
            Spacer()
            Button {
                if data.isLocked {
                    Task { await data.unlock() }
                } else {
                    data.lock()
                }
            } label: {
                Image(systemName: data.lockSymbol)
            }
        }
    }
}

/// The password view.
struct UnlockView: View {
    let data: NoteData
    @State private var password = ""

    var body: some View {
        VStack {
            SecureField("Password", text: $password)
            if let message = data.message { Text(message) }
            Button("Unlock") {
                Task { await data.unlock(password: password) }
            }
        }
        .padding()
    }
}

/// The note, blurred while it is locked.
struct NoteView: View {
    @State private var data = NoteData()

    var body: some View {
        VStack {
            ToolbarView(data: data)
            TextEditor(text: Binding(get: { data.text }, set: { data.text = $0 }))
                .blur(radius: data.isLocked ? 8 : 0)
                .disabled(data.isLocked)
        }
        .padding()
        .sheet(isPresented: Binding(get: { data.showsPasswordView }, set: { data.showsPasswordView = $0 })) {
            UnlockView(data: data)
        }
    }
}
