// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import SensorProtocol
import TestSupport
import Testing

@Suite struct SensorMessageTests {
    private static let most = (0..<Limits.loginSessions).map { number in
        let digits = "\(number)"
        return String(repeating: "s", count: Limits.applicationBytes - digits.utf8.count) + digits
    }
    private static let longest = String(repeating: "x", count: SensorMessage.textBytes)

    static let samples: [SensorMessage] =
        [
            .look(1), .arm(2), .disarm(.max), .applied(24), .received(256), .sensor(.absent),
            .sensor(SensorState(kind: .touchID, enrolment: EnrolmentSet([1, 2, 3]), reportsEnrolmentChanges: false)),
            .sensor(SensorState(kind: .touchID, isWeak: true)), .sensor(SensorState(kind: .touchID, isVirtual: true)),
            .scanned(3, .match(EnrolmentSet([9]), isVirtual: false)),
            .scanned(3, .match(EnrolmentSet([9]), isVirtual: true)),
            .scanned(3, .noMatch), .scanned(3, .inUse(true)), .scanned(3, .inUse(false)), .scanned(3, .failed),
            .scanned(3, .disconnected), .sessions(1, .locked, SessionState(isLocked: true, biometry: .only([]))),
            .sessions(2, .ended, SessionState(isLocked: false, biometry: .every)),
            .sessions(3, .changed, SessionState(isLocked: false, biometry: .only(Set(most)))),
            .note(.sensorRefused, message: longest, hint: longest), .note(.sleepNotDelayed, message: "", hint: ""),
        ] + SensorGuidance.allCases.map { .scanned(4, .guidance($0)) }

    @Test(arguments: samples) func everyMessageSurvivesTheRoundTripAndFitsAFrame(_ message: SensorMessage) throws {
        let payload = message.encoded()
        #expect(try SensorMessage(decoding: payload) == message)
        #expect(payload.count <= SensorMessage.bytes)
    }

    @Test(arguments: samples) func noOtherBytesAreAMessage(_ message: SensorMessage) throws {
        let bytes = message.encoded().copyBytes()
        for count in bytes.indices {
            #expect(throws: WireError.self) { try SensorMessage(decoding: SecretBytes(Array(bytes[..<count]))) }
        }
        #expect(throws: WireError.self) { try SensorMessage(decoding: SecretBytes(bytes + [0])) }
    }

    /// Each is the encoding of a value that the type can have and the protocol cannot.
    @Test func valuesBeyondTheLimitsAreRefused() {
        let text = Self.longest + "x"
        let many = SessionState(isLocked: false, biometry: .only(Set(Self.most + ["t"])))
        let long = SessionState(isLocked: false, biometry: .only([String(repeating: "s", count: 256)]))
        let set = EnrolmentSet([UInt8](repeating: 1, count: EnrolmentSet.maximumBytes + 1))
        let messages: [SensorMessage] = [
            .note(.sensorFailed, message: text, hint: ""), .note(.sensorFailed, message: "", hint: text),
            .sessions(1, .changed, many), .sessions(1, .changed, long), .scanned(1, .match(set, isVirtual: false)),
            .scanned(1, .match(EnrolmentSet([]), isVirtual: false)),
        ]
        for message in messages {
            #expect(throws: WireError.self, "\(message)") { try SensorMessage(decoding: message.encoded()) }
        }
    }

    @Test(
        arguments: [
            [0x82, 0x0a, 0x01], [0x82, 0x07, 0x82, 0x03, 0x04], [0x82, 0x07, 0x82, 0x03, 0x82, 0x03, 0x00],
            [0x82, 0x08, 0x84, 0x01, 0x04, 0xf4, 0x80], [0x82, 0x08, 0x84, 0x01, 0x01, 0xf4, 0xf4],
            [0x82, 0x08, 0x84, 0x01, 0x01, 0xf4, 0x82, 0x61, 0x32, 0x61, 0x31],
            [0x82, 0x08, 0x84, 0x01, 0x01, 0xf4, 0x82, 0x61, 0x31, 0x61, 0x31],
            [0x82, 0x06, 0x84, 0x03, 0x40, 0xf4, 0xf4], [0x82, 0x09, 0x83, 0x06, 0x60, 0x60],
        ] as [[UInt8]])
    func numbersOutsideTheSetsAndUnsortedSessionsAreRefused(_ bytes: [UInt8]) {
        #expect(throws: WireError.self) { try SensorMessage(decoding: SecretBytes(bytes)) }
    }

    @Test func theLogOfTheProcessHasItsEventsOnlyAndCutsTexts() throws {
        let failure = Failure(.biometryNotAvailable, String(repeating: "ü", count: 1000), hint: "a hint")
        guard case .note(let note, let message, let hint)? = SensorMessage.line(.sensorFailed, failure) else {
            throw Failure(.internalFailure)
        }
        #expect(note.event == .sensorFailed && hint == "a hint" && message.allSatisfy { $0 == "ü" })
        #expect(message.utf8.count <= SensorMessage.textBytes && message.utf8.count > SensorMessage.textBytes / 2)
        #expect(SensorMessage.line(.recovered, failure) == nil)
    }

    @Test func theCorpusAndItsMutationsSatisfyTheFuzzProperty() throws {
        let inputs = try Repository.checkCorpus("sensor", mutations: 500) { name, bytes in
            let complaint = complaint(aboutSensor: bytes)
            #expect(complaint == nil, "\(name): \(bytes)")
        }
        #expect(inputs >= 6)
    }
}
