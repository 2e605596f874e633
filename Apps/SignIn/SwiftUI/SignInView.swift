// SPDX-License-Identifier: Apache-2.0

import SignInCore
import SwiftUI

/// The window of the app: one view for each state of the model.
struct SignInView: View {
    @State private var model = SignInModel()

    var body: some View {
        Group {
            switch model.state {
            case .starting: EmptyView()
            case .unavailable(let words): UnavailableView(words: words, model: model)
            case .registering: RegistrationView(model: model)
            case .signedOut(let account): SignedOutView(model: model, account: account)
            case .signedIn(let account, let expires): SignedInView(model: model, account: account, expires: expires)
            }
        }
        .padding()
        .task { await model.start() }
    }
}

/// What happened, and the button that helps.
struct NoticeView: View {
    let model: SignInModel

    var body: some View {
        if let notice = model.notice {
            VStack {
                Text(notice.words).font(.headline)
                if let help = notice.help { Text(help) }
                if let offer = notice.offer {
                    Button(offer.title) { Task { await model.accept(offer) } }
                        .disabled(model.activity != nil)
                }
            }
        }
    }
}

/// What the user is asked for, and the button that cancels it.
struct AskingView: View {
    let model: SignInModel

    var body: some View {
        if let words = model.activityWords {
            VStack {
                Text(words).font(.headline)
                Button("Cancel") { model.cancel() }
            }
        }
    }
}

/// The keychain cannot be read.
struct UnavailableView: View {
    let words: String
    let model: SignInModel

    var body: some View {
        VStack {
            Text(words)
            Button("Try Again") { Task { await model.start() } }
        }
    }
}

/// The form with which a device is registered.
struct RegistrationView: View {
    let model: SignInModel
    @State private var form = RegistrationForm()

    private var method: SignInMethod { model.method(for: form.release) }

    var body: some View {
        VStack {
            Image(systemName: method.symbolName).font(.largeTitle)
            Text("Register This Device").font(.title)
            if let explanation = method.explanation { Text(explanation) }
            NoticeView(model: model)
            TextField("Server", text: $form.server)
            TextField("Relying party, if it is not the server", text: $form.relyingParty)
            TextField("User", text: $form.user)
            TextField("Enrolment code", text: $form.code)
            Picker("Sign in with", selection: $form.release) {
                ForEach(model.releases, id: \.self) { release in
                    Text(model.name(of: release)).tag(release)
                }
            }
            // A face is scanned at once, so the warning has to be shown before the button is used.
            if let warning = model.faceWarning { Text(warning).font(.footnote) }
            AskingView(model: model)
            Button("Register") { Task { await model.register(form) } }
                .disabled(!form.isComplete || !method.isPossible || model.activity != nil)
            Button("Keep the Key") { model.keepKey() }
                .disabled(!model.canKeepKey)
        }
        .onAppear { form = model.firstForm }
    }
}

/// A registered device without a session.
struct SignedOutView: View {
    let model: SignInModel
    let account: Account
    @State private var asksToForget = false

    var body: some View {
        VStack {
            Image(systemName: model.method.symbolName).font(.largeTitle)
            Text("Signed Out").font(.title)
            Text("\(account.user) at \(account.relyingPartyID)")
            NoticeView(model: model)
            if let explanation = model.method.explanation { Text(explanation) }
            if let warning = model.faceWarning { Text(warning).font(.footnote) }
            AskingView(model: model)
            // The offer of the message takes its place.
            if model.notice?.offer?.goesOn != true {
                Button(model.method.title("Sign In")) { Task { await model.proceed() } }
                    .disabled(model.activity != nil || !model.method.isPossible)
            }
            Button("Use a New Code") { model.useNewCode() }
                .disabled(model.activity != nil)
            Button("Forget This Device") { asksToForget = true }
                .disabled(model.activity != nil)
        }
        .confirmationDialog("Forget This Device?", isPresented: $asksToForget) {
            Button("Forget") { Task { await model.forget() } }
        }
    }
}

/// A session: who is signed in, one act to approve, and the way out.
struct SignedInView: View {
    let model: SignInModel
    let account: Account
    let expires: Date

    var body: some View {
        VStack {
            Text("Signed In").font(.title)
            Text("until \(expires.formatted(date: .omitted, time: .shortened))")
            Text(account.user)
            Text(account.address.absoluteString)
            Text(account.relyingPartyID)
            Text("20 EUR to Bob")
            Button(model.method.title("Approve")) { Task { await model.approve() } }
                .disabled(model.activity != nil || !model.method.isPossible)
            NoticeView(model: model)
            AskingView(model: model)
            Button("Sign Out") { Task { await model.signOut() } }
                .disabled(model.activity != nil)
        }
        // Returns when the session ends, or is cancelled with the view.
        .task { await model.waitForExpiry() }
    }
}
