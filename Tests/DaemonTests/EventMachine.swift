// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A security event of the store.
enum StoreEvent: CaseIterable, Sendable {
    case setPasscode, changePasscode, removePasscode, enrolment, lockout
}

/// A simulated daemon whose store is restored before each event, and its simulated user.
final class EventMachine {
    private static let (old, new) = (SecretBytes("1234".utf8), SecretBytes("4321".utf8))
    let daemon: TestDaemon
    private let event: StoreEvent
    private var before: StoreSnapshot
    private var client: RawClient
    private var agent: RawAgent
    private var process: pid_t

    /// Creates a store with an item of each kind. For `setPasscode` it has no passcode; for `lockout` one biometric
    /// attempt is left.
    init(_ event: StoreEvent) throws {
        self.event = event
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
        (client, agent) = (try RawClient(daemon), try RawAgent(daemon))
        process = try #require(try daemon.process)
        before = try StoreSnapshot(of: daemon)
        try expectDone(.simulate(.enroll))
        try expectDone(adding("free", []))
        // Items of biometry are added while a passcode is set, and stay when it is removed.
        try expectDone(.passcode(.set(Self.old)))
        try expectDone(adding("bound", .biometryCurrentSet))
        try expectDone(adding("any", .biometryAny))
        try expectDone(adding("passcode", [], .whenPasscodeSetThisDeviceOnly))
        if event == .setPasscode { #expect(try removePasscode()) }
        if event == .lockout { for misses in [3, 1] { #expect(try miss(misses) != .biometryLockout) } }
        try daemon.crash()
        before = try StoreSnapshot(of: daemon)
    }

    private func adding(
        _ account: String, _ constraints: AccessConstraints, _ accessibility: Accessibility = .whenUnlocked
    ) -> Request {
        .adding(
            account, secret: Array(account.utf8),
            rule: AccessControl(accessibility: accessibility, constraints: constraints))
    }

    private func expectDone(_ request: Request) throws { #expect(try client.call(request) == .done) }

    // MARK: - The daemon

    /// Restores the store and starts a daemon on it.
    func start() throws {
        try before.restore(to: daemon.folder)
        try restart()
    }

    private func restart() throws {
        try daemon.start()
        (client, agent) = (try RawClient(daemon), try RawAgent(daemon))
        process = try #require(try daemon.process)
    }

    /// The threads of the daemon, in the order of their creation.
    var threads: [String] {
        get throws {
            try daemon.run("/bin/ls", ["/proc/\(process)/task"]).output.split(separator: "\n").map(String.init)
                .sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
        }
    }

    /// Waits until the daemon that was started last has ended; false after a timeout.
    func hasEnded() -> Bool { Processes.hasEnded(process, within: 20) }

    // MARK: - The event

    /// Carries out the event and returns whether it was acknowledged; false when the daemon ends meanwhile.
    func carryOut() -> Bool {
        do {
            let isAcknowledged = try tryToCarryOut()
            // Once this request is answered, earlier writes are complete. It finds no item and writes nothing.
            _ = try client.call(
                .deleteItems(ItemQuery(itemClass: .genericPassword, attributes: [.account: .text("none")])), id: 9)
            return isAcknowledged
        } catch {
            return false
        }
    }

    private func tryToCarryOut() throws -> Bool {
        switch event {
        case .setPasscode: return try client.call(.passcode(.set(Self.new))) == .done
        case .changePasscode: try client.send(.passcode(.change(Self.new)), id: 1)
        case .removePasscode: return try removePasscode()
        case .enrolment: return try client.call(.simulate(.replaceFinger)) == .done
        case .lockout: return try miss(1) == .biometryLockout
        }
        _ = try enter(Self.old)
        return try client.receive()?.reply == .done
    }

    private func removePasscode() throws -> Bool {
        try client.send(.passcode(.remove), id: 1)
        _ = try enter(Self.old)
        return try client.receive()?.reply == .done
    }

    /// Enters a passcode into the next prompt and returns whether it was right; cancels the prompt if not.
    private func enter(_ passcode: SecretBytes) throws -> Bool {
        let prompt = try agent.shown().id
        try agent.send(.visible, to: prompt)
        try agent.send(.passcode(passcode), to: prompt)
        guard case .message(_, let answer)? = try agent.receive() else { throw FrameEnd() }
        if answer == .dismiss { return true }
        try agent.send(.cancel, to: prompt)
        _ = try agent.receive()
        return false
    }

    /// Reads an item that requires biometry, fails `count` times, cancels, and returns the caller's status.
    private func miss(_ count: Int) throws -> Status? {
        try client.send(.reading("any"), id: 1)
        let prompt = try agent.shown().id
        try agent.send(.visible, to: prompt)
        for _ in 1...count {
            try agent.send(.simulatedTouch(matching: false), to: prompt)
            guard case .message(_, let answer)? = try agent.receive() else { throw FrameEnd() }
            if answer == .dismiss { return try refusal() }
        }
        try agent.send(.cancel, to: prompt)
        _ = try agent.receive()
        return try refusal()
    }

    private func refusal() throws -> Status? {
        guard case .failure(let failure)? = try client.receive()?.reply else { throw FrameEnd() }
        return failure.status
    }

    /// The daemon has ended the connection.
    private struct FrameEnd: Error {}

    // MARK: - Afterwards

    /// Starts a daemon on the resulting store and checks everything that the event may have changed.
    func expectWhole(_ isAcknowledged: Bool, _ words: Comment) throws {
        try restart()
        guard case .status(let report)? = try client.call(.status) else { throw FrameEnd() }
        #expect(report.problem == nil && report.quarantineCount == 0, words)
        #expect(try read("free") == "free", words)
        switch event {
        case .setPasscode:
            #expect(report.isPasscodeSet || !isAcknowledged, words)
            if report.isPasscodeSet { #expect(try opens(Self.new), words) }
        case .changePasscode: try expectOnePasscode(isAcknowledged, words)
        case .removePasscode:
            #expect(!report.isPasscodeSet || !isAcknowledged, words)
            if report.isPasscodeSet { #expect(try opens(Self.old), words) }
            #expect(try read("passcode") == (report.isPasscodeSet ? "passcode" : nil), words)
        case .enrolment:
            let isReplaced = try StoreSnapshot(of: daemon)["simulator.state"] != before["simulator.state"]
            #expect(isReplaced || !isAcknowledged, words)
            #expect(try read("bound", touching: !isReplaced) == (isReplaced ? nil : "bound"), words)
            #expect(try read("any", touching: true) == "any", words)
        case .lockout:
            #expect(report.isBiometryLocked || !isAcknowledged, words)
            // Four failures were acknowledged before, so at most one attempt is left.
            if !report.isBiometryLocked { #expect(try miss(1) == .biometryLockout, words) }
        }
        let check = try daemon.run("latchkey", ["check"])
        #expect(check.exitCode == 0, "\(check): \(words)")
        try daemon.crash()
    }

    /// If the event was acknowledged, only the new passcode opens the store; otherwise exactly one of the two does.
    private func expectOnePasscode(_ isAcknowledged: Bool, _ words: Comment) throws {
        let isNew = try opens(Self.new)
        #expect(isNew || !isAcknowledged, words)
        if !isNew { #expect(try opens(Self.old), words) }
        #expect(try read("passcode") == "passcode", words)
        #expect(try !opens(isNew ? Self.old : Self.new), words)
    }

    private func opens(_ passcode: SecretBytes) throws -> Bool {
        guard case .context(let context)? = try client.call(.createContext) else { throw FrameEnd() }
        try client.send(
            .evaluateAccessControl(
                Request.EvaluateAccessControl(
                    context: context, accessControl: AccessControl(constraints: .devicePasscode),
                    prompting: Prompting(reason: "look"))), id: 2)
        let isRight = try enter(passcode)
        #expect((try client.receive()?.reply == .done) == isRight)
        return isRight
    }

    /// Reads the secret of an item; nil when it does not exist.
    private func read(_ account: String, touching: Bool = false) throws -> String? {
        try client.send(.reading(account), id: 3)
        if touching {
            let prompt = try agent.shown().id
            try agent.send(.visible, to: prompt)
            try agent.send(.simulatedTouch(matching: true), to: prompt)
            guard case .message(_, .dismiss)? = try agent.receive() else { throw FrameEnd() }
        }
        switch try client.receive()?.reply {
        case .items(let items, _)?: return items.first?.secret.map { String(decoding: $0.copyBytes(), as: UTF8.self) }
        case .failure(let failure)? where failure.status == .itemNotFound: return nil
        case let other: throw Failure(.internalFailure, "reading \(account) gave \(String(describing: other))")
        }
    }
}
