// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// New passcodes and recovery codes of backups are stretched on the stretch queue in the program's turn, so that
/// neither writes nor other programs wait for them.
@Suite struct StretchedPasscodeTests {
    private static let (old, new) = (SecretBytes("1234".utf8), SecretBytes("5678".utf8))
    private let stretching = HeldStretchQueue()
    private let simulated: SimulatedService
    private let owner: Session
    private let other: Session

    init() throws {
        let queue = stretching
        let simulated = try SimulatedService(WorldState(sensor: .none)) { parts, world in
            parts.stretching = queue
            parts.sessions = world
        }
        self.simulated = simulated
        (owner, other) = (Self.session("owner", simulated), Self.session("other", simulated))
    }

    private static func session(_ name: String, _ simulated: SimulatedService) -> Session {
        let caller = Caller(groups: [name], label: name, program: "/usr/bin/" + name, processID: 1, userID: 1)
        return simulated.service.session(
            caller: caller, terminal: 0, mayNameItself: false, hello: Request.Hello(application: ""))
    }

    /// Returns whether a write of another program is completed at once.
    private func otherAdds(_ account: String) -> Bool {
        let request = Request.AddItem(attributes: [.account: .text(account)], secret: SecretBytes([1]))
        return InterruptedService.answers(other, .addItem(request))() == [.done]
    }

    private func setPasscode() {
        let answers = InterruptedService.answers(owner, .passcode(.set(Self.old)))
        stretching.run()
        #expect(answers() == [.done])
    }

    /// Sends a request and enters the correct passcode at its prompt; stops before the key stretching that follows.
    private func ask(_ request: Request, _ actions: SimulatedWorld.Action...) -> () -> [Reply] {
        let answers = InterruptedService.answers(owner, request)
        simulated.world.perform(.passcode(Self.old))
        stretching.step()
        for action in actions { simulated.world.perform(action) }
        return answers
    }

    @Test func anotherProgramWritesWhileAFirstPasscodeIsStretched() throws {
        let answers = InterruptedService.answers(owner, .passcode(.set(Self.old)))
        #expect(answers() == [] && stretching.count == 1)
        #expect(otherAdds("item"))
        #expect(!simulated.keychain.isPasscodeSet)
        stretching.step()
        #expect(answers() == [.done] && simulated.keychain.isPasscodeSet)
    }

    @Test(.promise("turns.stretching")) func anotherProgramWritesWhileANewPasscodeIsStretched() throws {
        setPasscode()
        let answers = ask(.passcode(.change(Self.new)))
        #expect(answers() == [] && stretching.count == 1)
        #expect(otherAdds("item"))
        #expect(try !simulated.keychain.unlock(Self.new))
        stretching.step()
        #expect(answers() == [.done])
        #expect(try simulated.keychain.unlock(Self.new))
    }

    @Test(.promise("turns.stretching")) func anotherProgramWritesWhileRecoveryCodesAreStretched() throws {
        setPasscode()
        let exported = ask(.exportItems(Request.ExportItems(cursor: nil)), .codeAcknowledged)
        #expect(exported() == [] && stretching.count == 1)
        #expect(otherAdds("one"))
        stretching.step()
        guard case .exported(var page)? = exported().first else { throw Failure(.internalFailure, "\(exported())") }
        var bytes = page.bytes
        while let cursor = page.cursor {
            let next = InterruptedService.answers(owner, .exportItems(Request.ExportItems(cursor: cursor)))
            guard case .exported(let more)? = next().first else { throw Failure(.internalFailure, "\(next())") }
            page = more
            bytes += page.bytes
        }

        let code = try #require(simulated.world.shownRecoveryCode)
        let request = Request.ImportItems(cursor: nil, bytes: bytes, isLast: true)
        let imported = ask(.importItems(request), .recoveryCode(code))
        #expect(imported() == [] && stretching.count == 1)
        #expect(otherAdds("two"))
        stretching.step()
        guard case .imported? = imported().first else { throw Failure(.internalFailure, "\(imported())") }
    }

    @Test func secondRequestToSetTheFirstPasscodeIsRefusedAfterStretching() throws {
        let first = InterruptedService.answers(owner, .passcode(.set(Self.old)))
        let second = InterruptedService.answers(other, .passcode(.set(Self.new)))
        stretching.run()
        #expect(first() == [.done] && second() == [.failure(Failure(.notPermitted))])
        #expect(try simulated.keychain.unlock(Self.old))
    }

    @Test func lockWhileANewPasscodeIsStretchedEndsTheChange() throws {
        setPasscode()
        let answers = ask(.passcode(.change(Self.new)))
        #expect(InterruptedService.answers(other, .lock)() == [.done])
        stretching.run()
        #expect(answers() == [.failure(Failure(.systemCancel))])
        #expect(try simulated.keychain.unlock(Self.old))
    }

    @Test func newPasscodeOfAnEndedConnectionIsNotStretched() {
        let answers = InterruptedService.answers(owner, .passcode(.set(Self.old)))
        owner.close()
        stretching.run()
        #expect(answers() == [] && !simulated.keychain.isPasscodeSet)
    }

    @Test(.promise("turns.stretching")) func floodOfNewPasscodesIsRefusedAndDelaysNoOtherProgram() throws {
        for id in 1...UInt64(Limits.stretchesWaiting) {
            #expect(InterruptedService.answers(owner, .passcode(.set(Self.old)), id: id)() == [])
        }
        let more = InterruptedService.answers(owner, .passcode(.set(Self.old)), id: 1000)
        #expect(more() == [.failure(Failure(.limitExceeded))])
        let answers = InterruptedService.answers(other, .passcode(.set(Self.new)))
        for _ in 1...2 { stretching.step() }
        #expect(answers().count == 1, "it waits for at most one stretch of the flood")
    }
}
