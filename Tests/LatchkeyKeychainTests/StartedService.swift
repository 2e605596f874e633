// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

/// The service of a daemon that has just started on a keychain, without a sensor or a user at the prompt.
struct StartedService {
    private let service: Service
    private let world: SimulatedWorld

    init(_ keychain: Keychain, clock: any Clock, log: any EventLog = UnwatchedLog()) throws {
        let random = SystemRandomSource()
        world = SimulatedWorld(
            WorldState(sensor: .none), clock: VirtualClock(), random: random, user: 1000, save: { _ in })
        let work = ImmediateWorkQueue()
        let authority = try LocalAuthority(
            LocalAuthority.Parts(
                tier: .simulated, userID: 1000, reader: world,
                prompter: ScriptedPrompter(SimulatedPrompter(), world: world), clock: clock, random: random,
                work: work, stretching: work, counters: .success(keychain), permissions: keychain))
        service = Service(
            Service.Parts(
                tier: .simulated, userID: 1000, storePath: "", processID: 1, keychain: .success(keychain),
                authority: authority, clock: clock, random: random, work: work, stretching: work,
                log: log))
    }

    /// Starts what a daemon does in the background, and what it does before it exits.
    func beginStoreCheck() { service.beginStoreCheck() }
    func stop() { service.stop() }

    private func answer(_ request: Request) -> Reply? {
        let session = service.session(
            caller: StoreOnDisk.caller, terminal: 0, mayNameItself: false, hello: Request.Hello(application: ""))
        let replies = Recorder<Reply>()
        session.handle(1, request, replies.add)
        return replies.all.last
    }

    private func status(of request: Request) -> Status? {
        if case .failure(let failure) = answer(request) { failure.status } else { nil }
    }

    /// Sets the first passcode; nil on success.
    func setPasscode(_ passcode: String) -> Status? { status(of: .setPasscode(passcode)) }

    /// Deletes everything that needs a proof; nil on success.
    func reset() -> Status? { status(of: .discardForgotten) }

    /// Enters a passcode at the prompt for changing the passcode to the right one; nil when it was right. Nothing is
    /// entered while entry is delayed.
    func tryPasscode(_ passcode: String) -> Status? {
        let count = world.transcript.count
        let status: Status? = world.playing([.passcode(SecretBytes(passcode.utf8)), .cancel]) {
            self.status(of: .passcode(.change(SecretBytes("right".utf8))))
        }
        guard status == .userCancel else { return status }
        let isEntered = world.transcript[count...].contains { $0.hasSuffix("a passcode is entered") }
        return isEntered ? .authenticationFailed : .passcodeDelayed
    }

    /// Asks for the names of the items of all apps; nil if a prompt is shown.
    func listNames() -> Status? { status(of: .listNames) }

    /// Whether biometry is locked until the passcode is entered.
    var isBiometryLocked: Bool {
        get throws {
            guard case .status(let report) = answer(.status) else { throw Failure(.internalFailure, "no status") }
            return report.isBiometryLocked
        }
    }
}
