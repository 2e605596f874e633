// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import LatchkeyWire
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import AuthorityDaemon

/// Requests in tier `file`, from the app through both services and back.
@Suite struct TwoServicesTests {
    private let machine: TwoServices

    init() throws { machine = try TwoServices(WorldState(sensor: .none)) }

    @Test func aPasscodeChosenAtThePromptIsAcceptedAtThePrompt() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        #expect(try machine.keychain.isPasscodeSet && machine.authority.state.isPasscodeSet)
        let replies = machine.evaluate()
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(replies() == [.proven([.passcode])])
        #expect(try machine.keychain.tree.holdsPasscodeKey)
    }

    @Test func aFingerIsAcceptedWithAToken() throws {
        let machine = try TwoServices()
        #expect(machine.setPasscode("abcdef") == [.done])
        #expect(touch(machine) == [.proven([.biometry])])
    }

    /// Returns the replies to an evaluation that a touch answers.
    private func touch(_ machine: TwoServices) -> [Reply] {
        let replies = machine.evaluate(.deviceOwnerAuthenticationWithBiometrics)
        machine.world.perform(.touch(matching: true))
        return replies()
    }

    @Test(.promise("virtual.token")) func aMatchOfAVirtualSensorIsAcceptedOnlyWithTheConsentOfRoot_abuse24() throws {
        for isAccepted in [true, false] {
            let machine = try TwoServices(
                hardware: .init(isVirtual: false, sensorIsVirtual: true, isAccepted: isAccepted))
            #expect(machine.setPasscode("abcdef") == [.done], "a proof without the sensor is not virtual")
            let replies = touch(machine)
            #expect(replies.count == 1 && (replies == [.proven([.biometry])]) == isAccepted)
        }
    }

    /// The state says that some reader is virtual, also while another one matches, and can change before a token is made.
    @Test(.promise("virtual.token")) func theReaderThatMatchedDecidesWhetherTheTokenIsVirtual_abuse24() throws {
        for matchIsVirtual in [true, false] {
            let machine = try TwoServices(
                hardware: .init(
                    isVirtual: false, sensorIsVirtual: !matchIsVirtual, matchIsVirtual: matchIsVirtual,
                    isAccepted: false))
            #expect(machine.setPasscode("abcdef") == [.done])
            #expect((touch(machine) == [.proven([.biometry])]) == !matchIsVirtual)
        }
    }

    @Test func theStatusSaysThatTheSensorIsVirtual_abuse24() throws {
        for isVirtual in [false, true] {
            let machine = try TwoServices(hardware: .init(sensorIsVirtual: isVirtual))
            guard case .status(let report)? = machine.answers(machine.session(), .status)().last else {
                Issue.record("no status")
                continue
            }
            #expect(report.biometry == .touchID && report.isBiometryVirtual == isVirtual)
        }
    }

    @Test(.promise("attacker.latchkeyd")) func aWrongPasscodeIsCountedByTheAuthority() {
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = machine.evaluate()
        machine.world.perform(.passcode(SecretBytes("abcdeg".utf8)))
        #expect(machine.authority.state.passcodeFailures == 1)
        machine.world.perform(.cancel)
        #expect(replies().count == 1)
        machine.crashAuthority()
        machine.clock.advance(seconds: 2)
        #expect(machine.authority.state.passcodeFailures == 1, "the count is a file of latchkey-authd")
    }

    @Test(.promise("attacker.latchkeyd")) func aRequestMayNotCarryAPasscode() {
        let reply = machine.answers(machine.session(), .setPasscode("abcdef"))().last
        guard case .failure(let failure)? = reply else {
            Issue.record("the passcode was accepted")
            return
        }
        #expect(failure.status == .notPermitted)
    }

    @Test(.promise("attacker.latchkeyd")) func thePasscodeNeverReachesTheStoresService() {
        #expect(machine.setPasscode("remarkable") == [.done])
        let replies = machine.evaluate()
        machine.world.perform(.passcode(SecretBytes("remarkable".utf8)))
        #expect(replies() == [.proven([.passcode])])
        let text = Array("remarkable".utf8)
        for frame in machine.frames {
            #expect(!frame.copyBytes().indices.contains { frame.copyBytes()[$0...].starts(with: text) })
        }
    }

    @Test(.promise("attacker.earlier-proof", "abuse.13"))
    func aCrashOfTheAuthorityEndsEvaluationsAndVoidsProofs_abuse13() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let session = machine.session()
        let evaluate = Request.evaluate(try machine.context(session))
        let proven = machine.answers(session, evaluate)
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(proven() == [.proven([.passcode])])
        #expect(machine.answers(session, evaluate)() == [.proven([.passcode])], "the context keeps its proof")
        let waiting = machine.evaluate(in: session)
        machine.crashAuthority(refusing: true)
        #expect(waiting().compactMap(\.status) == [.systemCancel])
        let without = machine.answers(session, evaluate)
        #expect(without().compactMap(\.status) == [.daemonUnavailable])
        machine.crashAuthority()
        machine.clock.advance(seconds: 60)
        let again = machine.answers(session, evaluate)
        #expect(again().isEmpty, "the proof of the earlier connection is void, so a prompt is shown")
    }

    @Test func changingThePasscodeKeepsTheItemsOfItsClass() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        machine.enterNew("uvwxyz")
        #expect(replies() == [.done])
        let old = machine.evaluate()
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(old().isEmpty)
        machine.world.perform(.passcode(SecretBytes("uvwxyz".utf8)))
        #expect(old() == [.proven([.passcode])])
    }

    @Test func removingThePasscodeNeedsAnEvaluationForThatPurpose() throws {
        #expect(machine.setPasscode("abcdef") == [.done])
        let replies = machine.answers(machine.session(), .passcode(.remove))
        machine.world.perform(.passcode(SecretBytes("abcdef".utf8)))
        #expect(replies() == [.done])
        #expect(try !machine.authority.state.isPasscodeSet && !machine.keychain.isPasscodeSet)
    }
}

extension Reply {
    /// The status of a failure; nil for other replies.
    var status: Status? { if case .failure(let failure) = self { failure.status } else { nil } }
}
