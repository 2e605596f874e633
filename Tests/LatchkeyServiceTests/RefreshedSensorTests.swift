// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import SystemDriver
import TestPromises
import Testing

@testable import LatchkeyKeychain
@testable import LatchkeyService

/// A new enrolment set is reported to policy only when it is stored in the anchor.
@Suite struct RefreshedSensorTests {
    @Test(.promise("enrolment.durable")) func enrolmentSetIsNotReportedBeforeItIsDurable() throws {
        var (vault, clock): (FullVault?, VirtualClock?) = (nil, nil)
        let machine = try SimulatedService(
            change: { parts, _ in clock = parts.clock as? VirtualClock },
            wrapping: { inner in
                let full = FullVault(inner)
                vault = full
                return full
            })
        let session = machine.session(Request.Hello(application: "app"))
        let isUsable = { () throws -> Bool in
            let answers = InterruptedService.answers(session, .environment(unlike: nil))()
            guard case .environment(let report)? = answers.first else { throw Failure(.internalFailure) }
            return report.isBiometryUsable
        }
        #expect(InterruptedService.answers(session, .passcode(.set(SecretBytes("1234".utf8))))() == [.done])
        #expect(try isUsable())
        let before = machine.keychain.anchor.set

        let (full, time) = (try #require(vault), try #require(clock))
        full.fill()
        _ = try machine.world.apply(.replaceFinger)
        #expect(machine.world.state(for: 1).enrolment != before)
        #expect(try !isUsable())
        #expect(machine.service.authority.state.sensor.enrolment == nil, "the new finger is not accepted")
        #expect(machine.keychain.anchor.set == before, "items stay bound to the old set")
        time.advance(seconds: 11)
        #expect(try !isUsable(), "a retry fails as well")

        full.empty()
        time.advance(seconds: 11)
        #expect(try isUsable())
        #expect(machine.keychain.anchor.set == machine.world.state(for: 1).enrolment)
        #expect(machine.keychain.anchor.set != before)
    }
}
