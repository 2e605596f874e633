// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import Observation
import SwiftUI

/// The note of the tutorial: one text behind a password, and behind biometry where there is some.
///
/// The text itself is in the keychain, and not only the password: the one that needs no proof is never on the disk.
@MainActor
@Observable
final class NoteData {
    private static let service = "QuickNote"
    private static let password = KeychainEntry.password(service: service, account: "unlockPassword")
    private static let note = KeychainEntry.password(service: service, account: "note")
    private static let noteByFace = KeychainEntry.password(service: service, account: "note.biometry")

    private let store = KeychainStore()
    private let auth = BiometricAuth()
    /// The password of this session, to save with.
    @ObservationIgnored private var sessionPassword: String?

    var text = ""
    private(set) var isLocked = true
    var showsPasswordView = false
    private(set) var message: String?

    var lockSymbol: String {
        isLocked ? auth.supportedBiometry.biometry?.symbolName ?? "lock" : "lock.open"
    }

    /// Biometry, and the password when it fails, is cancelled or is not there.
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

    /// Opens the note with the password; a wrong one is told.
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

    /// Keeps the text behind the password, and behind biometry where there is some.
    func save(password: String? = nil) async {
        guard let password = password ?? sessionPassword else { return }
        do throws(KeychainError) {
            try await store.store(
                text, in: Self.note, protection: .applicationPassword, prompt: .standard.password(password))
            // Removed first: changing a protected item would ask.
            try await store.remove(Self.noteByFace)
            if auth.supportedBiometry.biometry != nil {
                try await store.store(text, in: Self.noteByFace, protection: .currentBiometry)
            }
        } catch {
            message = error.message
        }
    }

    /// Takes the text out of memory.
    func lock() {
        (text, sessionPassword, isLocked) = ("", nil, true)
    }
}

/// The buttons above the text.
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

/// Asks for the password.
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
