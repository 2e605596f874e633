// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

typealias SensorSample = WireSample<SensorMessage>

extension SensorMessage: WireMessage {
    package static let vectors = ["sensor"]
}

extension SensorSample {
    fileprivate init(
        _ name: String, _ isLocked: Bool, _ change: SensorMessage.SessionChange, _ sessions: BiometrySessions
    ) {
        self.init(name, .sessions(3, change, SessionState(isLocked: isLocked, biometry: sessions)))
    }
}

/// The messages between `latchkeyd` and the process of its sensors.
private enum Samples {
    private static let enrolled = SensorState(
        kind: .touchID, enrolment: EnrolmentSet([1, 2, 3]), reportsEnrolmentChanges: false)

    static let all: [SensorSample] =
        [
            SensorSample("sensor-look", .look(1)), SensorSample("sensor-arm", .arm(2)),
            SensorSample("sensor-disarm", .disarm(.max)), SensorSample("sensor-applied", .applied(24)),
            SensorSample("sensor-received", .received(256)), SensorSample("sensor-absent", .sensor(.absent)),
            SensorSample("sensor-enrolled", .sensor(enrolled)),
            SensorSample("sensor-weak", .sensor(SensorState(kind: .touchID, isWeak: true))),
            SensorSample("sensor-virtual", .sensor(SensorState(kind: .faceID, isVirtual: true))),
            SensorSample("sensor-match", .scanned(3, .match(EnrolmentSet([9]), isVirtual: false))),
            SensorSample("sensor-match-virtual", .scanned(3, .match(EnrolmentSet([9]), isVirtual: true))),
            SensorSample("sensor-no-match", .scanned(3, .noMatch)),
            SensorSample("sensor-in-use", .scanned(3, .inUse(true))),
            SensorSample("sensor-not-in-use", .scanned(3, .inUse(false))),
            SensorSample("sensor-scan-failed", .scanned(3, .failed)),
            SensorSample("sensor-disconnected", .scanned(3, .disconnected)),
            SensorSample("sensor-sessions-none", true, .locked, .only([])),
            SensorSample("sensor-sessions-every", false, .ended, .every),
            SensorSample("sensor-sessions-some", false, .changed, .only(["2", "c1", "10"])),
            SensorSample("sensor-note-texts", .log(.sensorRefused, message: "It is busy.", hint: "Wait.")),
        ]
        + SensorGuidance.allCases.map { SensorSample("sensor-guidance-\($0.rawValue)", .scanned(4, .guidance($0))) }
        + SensorMessage.LogEvent.allCases.map {
            SensorSample("sensor-note-\($0.rawValue)", .log($0, message: "", hint: ""))
        }
}

/// The messages of the sensors have the bytes of `Tests/Vectors/wire/sensor.hex`, and no others are read.
@Suite struct SensorMessageTests {
    private static let most = (0..<Limits.loginSessions).map { number in
        let digits = "\(number)"
        return String(repeating: "s", count: Limits.applicationBytes - digits.utf8.count) + digits
    }
    private static let longest = String(repeating: "x", count: SensorMessage.textBytes)

    @Test func eachVectorHasASample() throws {
        try WireContract.expectOneSampleForEachVector(Samples.all)
    }

    @Test(arguments: Samples.all, WireContract<SensorMessage>.allCases)
    func eachMessageHasOneEncoding(_ sample: SensorSample, _ contract: WireContract<SensorMessage>) throws {
        try contract.check(sample)
    }

    @Test(
        arguments: [
            .sessions(3, .changed, SessionState(isLocked: false, biometry: .only(Set(most)))),
            .log(.sensorRefused, message: longest, hint: longest),
        ] as [SensorMessage])
    func theLongestMessagesFitAFrame(_ message: SensorMessage) throws {
        let payload = message.encoded()
        #expect(try SensorMessage(decoding: payload) == message)
        #expect(payload.count <= SensorMessage.bytes)
    }

    /// Each is the encoding of a value that the type can have and the protocol cannot.
    @Test func valuesBeyondTheLimitsAreRefused() {
        let text = Self.longest + "x"
        let many = SessionState(isLocked: false, biometry: .only(Set(Self.most + ["t"])))
        let long = SessionState(isLocked: false, biometry: .only([String(repeating: "s", count: 256)]))
        let set = EnrolmentSet([UInt8](repeating: 1, count: EnrolmentSet.maximumBytes + 1))
        let messages: [SensorMessage] = [
            .log(.sensorFailed, message: text, hint: ""), .log(.sensorFailed, message: "", hint: text),
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
            [0x82, 0x06, 0x84, 0x03, 0x40, 0xf4, 0xf4], [0x82, 0x06, 0x86, 0x01, 0x40, 0xf4, 0xf4, 0xf4, 0xf4],
            [0x82, 0x06, 0x85, 0x03, 0x40, 0xf4, 0xf4, 0xf4], [0x82, 0x09, 0x83, 0x06, 0x60, 0x60], [0x81, 0x01],
            [0x83, 0x01, 0x01, 0x01], [0x82, 0x01, 0x81, 0x01], [0x82, 0x07, 0x83, 0x03, 0x02, 0x02],
            [0x82, 0x07, 0x82, 0x03, 0x81, 0x02], [0x82, 0x07, 0x82, 0x03, 0x82, 0x02, 0xf4],
            [0x82, 0x07, 0x82, 0x03, 0x82, 0x01, 0x82, 0x40, 0xf4], [0x82, 0x07, 0x82, 0x03, 0x01],
        ] as [[UInt8]])
    func otherKindsNumbersCountsAndUnsortedSessionsAreRefused(_ bytes: [UInt8]) {
        #expect(throws: WireError.self) { try SensorMessage(decoding: SecretBytes(bytes)) }
    }

    @Test func theLogOfTheProcessHasItsEventsOnlyAndCutsTexts() throws {
        let failure = Failure(.biometryNotAvailable, "\(String(repeating: "ü", count: 1000))", hint: "a hint")
        guard case .log(let event, let message, let hint)? = SensorMessage.line(.sensorFailed, failure) else {
            throw Failure(.internalFailure)
        }
        #expect(event.event == .sensorFailed && hint == "a hint" && message.allSatisfy { $0 == "ü" })
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
