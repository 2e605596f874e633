// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKit
import LatchkeySignIn
import LatchkeyTesting
import LocalAuthentication
import Synchronization
import Testing

@testable import SignInCore

/// The whole way with a running server: registration, sign-in, approval, and what can go wrong. Keychain and finger are
/// simulated.
@MainActor @Suite(.simulator(), .enabled(if: RunningServer.program != nil, "LATCHKEY_SERVER is not set"))
struct ServerTests {
    @Test func aFingerRegistersSignsInAndApproves() async throws {
        let app = try await App()
        #expect(app.model.state == .registering(former: nil, hasKey: false))
        try machine().touch(matching: true)
        #expect(await app.model.register(try app.form()))
        let account = try #require(app.model.state.account)
        #expect(app.model.state == .signedOut(account))
        #expect(account.relyingPartyID == "localhost")
        #expect(try app.server.operate("keys", "ada").contains("a laptop"))

        try machine().touch(matching: true)
        await app.model.signIn()
        guard case .signedIn(account, let expires) = app.model.state else {
            Issue.record("\(app.model.state), \(String(describing: app.model.notice))")
            return
        }
        #expect(expires > Date())
        #expect(app.model.untilExpiry != nil)

        try machine().touch(matching: true)
        await app.model.approve()
        #expect(app.model.notice?.words == "Approved: pay 20 EUR to Bob.")
        #expect(try app.server.operate("export", "ada").contains("pay 20 EUR to Bob"))

        await app.model.signOut()
        #expect(app.model.state == .signedOut(account))
        #expect(app.model.notice == nil)
    }

    @Test func thePromptNamesPartyAndAct() async throws {
        _ = try await App.signedIn()
        let transcript = try machine().transcript.description
        #expect(transcript.contains("register this device with localhost for ada"))
        #expect(transcript.contains("sign in to localhost as ada"))
    }

    @Test func aRestartedAppIsSignedOutAndKnowsTheAccount() async throws {
        let app = try await App.signedIn()
        let again = try await App(app.server)
        #expect(again.model.state == .signedOut(try #require(app.model.state.account)))
        try machine().touch(matching: true)
        await again.model.signIn()
        #expect(again.model.state.isSignedIn)
    }

    @Test func aWrongCodeRegistersNothing() async throws {
        let app = try await App()
        var form = try app.form()
        form.code = String(form.code.reversed())
        try machine().touch(matching: true)
        #expect(await !app.model.register(form))
        #expect(app.model.state == .registering(former: nil, hasKey: false))
        #expect(app.model.notice?.isError == true)
        #expect(app.model.notice?.help?.contains("enrolment code may be wrong") == true)
        try machine().touch(matching: true)
        #expect(await app.model.register(try app.form()))
    }

    @Test func anAddressThatIsNoneIsToldBeforeAnybodyIsAsked() async throws {
        let app = try await App()
        var form = try app.form()
        form.server = "a b"
        #expect(await !app.model.register(form))
        #expect(app.model.notice?.words == "That is not the address of a server.")
        form.server = "http://example.com"
        #expect(await !app.model.register(form))
        #expect(app.model.notice?.words == "The address of the server is not acceptable.")
        #expect(try machine().transcript.lines.isEmpty)
    }

    @Test func aServerThatIsDownIsTold() async throws {
        let app = try await App.registered()
        app.server.end()
        await app.model.signIn()
        #expect(app.model.notice?.words == "The server cannot be reached.")
        #expect(!app.model.state.isSignedIn)
    }

    // MARK: - The session

    @Test func anExpiredSessionSignsOut() async throws {
        let app = try await App.signedIn()
        app.model.tick()
        #expect(app.model.state.isSignedIn)
        app.clock.advance(366 * 86_400)
        #expect(app.model.untilExpiry == .zero)
        app.model.tick()
        #expect(!app.model.state.isSignedIn)
        #expect(app.model.session == nil)
        #expect(app.model.notice?.words == "Your session has ended.")
    }

    @Test func aKeyThatTheOperatorRevokedApprovesNothing() async throws {
        let app = try await App.signedIn()
        try app.server.operate("revoke", "ada")
        try machine().touch(matching: true)
        await app.model.approve()
        try machine().forgetActions()
        #expect(!app.model.state.isSignedIn)
        #expect(app.model.notice?.isError == true)
        try machine().touch(matching: true)
        await app.model.signIn()
        try machine().forgetActions()
        #expect(!app.model.state.isSignedIn)
        #expect(app.model.notice?.offer == .newCode)
    }

    @Test func aSignOutWithoutAServerSignsOutHere() async throws {
        let app = try await App.signedIn()
        app.server.end()
        await app.model.signOut()
        #expect(!app.model.state.isSignedIn)
        #expect(app.model.notice?.isError == true)
    }

    // MARK: - The key

    @Test func aFingerThatWasAddedLaterEndsTheKeyAndANewCodeReplacesIt() async throws {
        let app = try await App.registered()
        try machine().enroll()
        await app.model.signIn()
        let notice = try #require(app.model.notice)
        #expect(notice.words.contains("fingers or faces changed"))
        #expect(notice.offer == .newCode)
        await app.model.accept(.newCode)
        guard case .registering(_?, hasKey: true) = app.model.state else {
            Issue.record("\(app.model.state)")
            return
        }
        #expect(app.model.firstForm.user == "ada")
        #expect(app.model.firstForm.code.isEmpty)
        try machine().touch(matching: true)
        #expect(await app.model.register(try app.form()))
        try machine().touch(matching: true)
        await app.model.signIn()
        #expect(app.model.state.isSignedIn)
    }

    @Test func aForgottenDeviceIsRevokedAtTheServer() async throws {
        let app = try await App.registered()
        try machine().touch(matching: true)
        await app.model.forget()
        #expect(app.model.state == .registering(former: nil, hasKey: false))
        #expect(app.model.notice?.help == "The server has revoked its key.")
        #expect(try app.server.operate("keys", "ada").contains("revoked"))
        #expect(try await App(app.server).model.state == .registering(former: nil, hasKey: false))
    }

    @Test func aDeviceIsNotForgottenSilentlyWithoutAServer() async throws {
        let app = try await App.registered()
        app.server.end()
        await app.model.forget()
        #expect(app.model.state.account != nil)
        #expect(app.model.notice?.offer == .removeHere)
        await app.model.accept(.removeHere)
        #expect(app.model.state == .registering(former: nil, hasKey: false))
        #expect(app.model.notice?.help?.contains("still lists it") == true)
    }

    @Test func anotherAccountReplacesTheFormerKey() async throws {
        let app = try await App.registered()
        let former = try #require(app.model.state.account)
        app.model.useNewCode()
        try machine().touch(matching: true)
        var form = try app.form()
        (form.user, form.code) = ("bob", try app.server.code(for: "bob"))
        #expect(await app.model.register(form))
        #expect(app.model.state.account?.user == "bob")
        #expect(try DeviceCredential.existing(user: "ada", for: former.server()) == nil)
    }

    // MARK: - The person

    @Test func aCancelledPromptSaysWhatElseIsPossible() async throws {
        let app = try await App.registered()
        try machine().cancel()
        await app.model.signIn()
        #expect(app.model.notice?.words == "The sign-in was cancelled.")
        #expect(app.model.notice?.help?.contains("choose the passcode") == true)
    }

    /// Apple's sample gives the button the title "Enter Username/Password" for the same reason.
    @Test func theCancelButtonOfEachPromptSaysHowTheAppGoesOn() async throws {
        let titles = Titles()
        var setup = SignInSetup()
        setup.makeContext = { TitledContext(titles) }
        let app = try await App(setup: setup)
        func titlesOfPrompts(_ body: () async -> Void) async -> [String] {
            titles.all.withLock { $0 = [] }
            await body()
            return titles.all.withLock { $0 }
        }
        let form = try app.form()
        for _ in 0..<4 { try machine().touch(matching: true) }
        #expect(await titlesOfPrompts { await app.model.register(form) } == ["Do Not Register"])
        #expect(await titlesOfPrompts { await app.model.signIn() } == ["Stay Signed Out"])
        #expect(await titlesOfPrompts { await app.model.approve() } == ["Approve Nothing"])
        #expect(await titlesOfPrompts { await app.model.signOut() } == [])
        #expect(await titlesOfPrompts { await app.model.forget() } == ["Keep Key"])
    }

    @Test func aLockedSensorIsUnlockedByThePasscode() async throws {
        let app = try await App.registered()
        // A prompt ends after three fingers that it does not know, and the sensor is locked after five.
        for _ in 0..<2 {
            for _ in 0..<3 { try machine().touch(matching: false) }
            await app.model.signIn()
            #expect(app.model.notice?.isError == true)
            try machine().forgetActions()
        }
        #expect(!app.model.state.isSignedIn)
        #expect(app.model.method == .passcodeForSensor(.touchID))
        #expect(app.model.notice?.offer == .passcode, "\(String(describing: app.model.notice))")
        try machine().enter(passcode: "1234")
        await app.model.accept(.passcode)
        #expect(app.model.method == .biometry(.touchID))
        #expect(app.model.notice?.words == "Fingerprint is unlocked.")
        try machine().touch(matching: true)
        await app.model.signIn()
        #expect(app.model.state.isSignedIn)
    }

    @Test(.simulator(sensor: .touchID)) func thePasscodeReleasesAKeyThatAcceptsIt() async throws {
        let app = try await App.registered(.presence)
        try machine().unenroll()
        await app.model.start()
        #expect(app.model.method == .passcode)
        try machine().enter(passcode: "1234")
        await app.model.signIn()
        #expect(app.model.state.isSignedIn)
    }

    @Test(.simulator(sensor: .none)) func aDeviceWithoutASensorRegistersWithThePasscode() async throws {
        let app = try await App()
        #expect(app.model.releases == [.presence])
        #expect(app.model.firstForm.release == .presence)
        #expect(app.model.method(for: .presence) == .passcode)
        try machine().enter(passcode: "1234")
        #expect(await app.model.register(try app.form(.presence)))
        try machine().enter(passcode: "1234")
        await app.model.signIn()
        #expect(app.model.state.isSignedIn)
    }

    /// Apple's rule: `faceIDLabel.isHidden = (state == .loggedin) || (context.biometryType != .faceID)`.
    @Test(.simulator(sensor: .faceID)) func theFaceWarningIsShownWhileSignedOut() async throws {
        let app = try await App()
        #expect(app.model.faceWarning != nil)
        try machine().presentFace(matching: true)
        #expect(await app.model.register(try app.form()), "\(String(describing: app.model.notice))")
        #expect(app.model.faceWarning?.contains("scans your face as soon as") == true)
        try machine().presentFace(matching: true)
        await app.model.signIn()
        #expect(app.model.state.isSignedIn)
        #expect(app.model.faceWarning == nil)
    }

    @Test func aFingerNeedsNoWarning() async throws {
        let app = try await App.registered()
        #expect(app.model.faceWarning == nil)
    }

    @Test(.simulator(waitsForActions: true)) func anotherButtonDoesNothingWhileThePromptIsShown() async throws {
        let app = try await App.registered()
        let model = app.model
        async let signingIn: Void = model.signIn()
        while model.activity == nil { await Task.yield() }
        #expect(model.activityWords == "Put your finger on the sensor.")
        model.useNewCode()
        await model.forget()
        #expect(model.activity == .signingIn)
        model.cancel()
        await signingIn
        #expect(model.activity == nil)
        #expect(model.notice?.words == "The sign-in was cancelled.")
    }
}

/// The titles of cancel buttons that the app has chosen.
private final class Titles: Sendable {
    let all = Mutex<[String]>([])
}

/// A context that tells which title the app chooses.
private final class TitledContext: LAContext {
    private let titles: Titles

    init(_ titles: Titles) {
        self.titles = titles
        super.init()
    }

    override var localizedCancelTitle: String? {
        didSet { if let localizedCancelTitle { titles.all.withLock { $0.append(localizedCancelTitle) } } }
    }
}
