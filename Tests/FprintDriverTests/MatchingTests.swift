// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization
import SyntheticFingerprints
import TestSupport
import Testing

extension FprintDriverTests {
    /// libfprint's real extraction and matching, with pictures of fingers that never existed.
    @Suite(.needs(.fprintd), .timeLimit(.minutes(5))) struct MatchingTests {
        private static let fingers = ["left", "right"].flatMap { hand in
            ["thumb", "index-finger", "middle-finger", "ring-finger", "little-finger"].map { "\(hand)-\($0)" }
        }
        /// Each stranger is compared with every enrolled finger.
        private static let strangers = 20
        private static let impressions = 3

        private func send(_ impression: Impression, to machine: Fprintd) throws -> Descriptor {
            let connection = try #require(machine.connect(.image))
            var size = [Int32(Impression.width), Int32(Impression.height)]
            let header = size.withUnsafeMutableBytes { Array($0) }
            try connection.write(all: header + impression.bytes)
            return connection
        }

        private func enroll(_ finger: SyntheticFinger, _ number: Int, as name: String, on machine: Fprintd) throws {
            try machine.client.device("Claim", Fprintd.account)
            try machine.client.device("EnrollStart", name)
            var isDone = false
            for stage in 0..<12 as Range<UInt64> where !isDone {
                let connection = try send(finger.impression(seed: UInt64(number) * 100 + stage), to: machine)
                let status = try machine.client.signal { $0.member == "EnrollStatus" }
                isDone = status.arguments[1].flag == true
                if isDone { try #require(status.arguments[0].text == "enroll-completed") }
                withExtendedLifetime(connection) {}
            }
            try #require(isDone)
            try machine.client.device("EnrollStop")
            try machine.client.device("Release")
        }

        /// What the reader reports for a picture. A picture that cannot be used is not counted by a person either.
        private func result(
            _ impression: Impression, _ reader: ReaderUnderTest, _ machine: Fprintd
        ) throws -> SensorEvent {
            try machine.client.signal { $0.member == "VerifyFingerSelected" }
            let connection = try send(impression, to: machine)
            defer { withExtendedLifetime(connection) {} }
            return try reader.next()
        }

        @Test func enrolledFingersMatchAndStrangersDoNot() async throws {
            let begin = Uptime.nanoseconds
            let count = Self.fingers.count
            let people = await withTaskGroup(of: (Int, SyntheticFinger).self) { group in
                for number in 0..<count + Self.strangers {
                    group.addTask { (number, SyntheticFinger(seed: UInt64(number + 1))) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            let made = Double(Uptime.nanoseconds - begin) / 1e9
            let machine = try Fprintd(.image)
            for (number, name) in Self.fingers.enumerated() {
                try enroll(#require(people[number]), number, as: name, on: machine)
            }
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let set = try #require(reader.state.enrolment)
            reader.arm()
            var (rejected, accepted, unusable) = (0, 0, 0)
            func tally(_ number: Int, _ seed: UInt64, isEnrolled: Bool) throws {
                let picture = try #require(people[number]).impression(seed: UInt64(number) * 100 + seed)
                switch try result(picture, reader, machine) {
                case .match(let found, let isVirtual):
                    #expect(found == set && isVirtual)
                    if !isEnrolled { accepted += 1 }
                case .noMatch: if isEnrolled { rejected += 1 }
                case .guidance:
                    unusable += 1
                    // The verification goes on; a new one begins with the next arming.
                    try rearm(reader, machine)
                case .failed, .disconnected, .inUse: Issue.record("the reader failed")
                }
            }
            for number in 0..<count {
                for seed in 0..<Self.impressions { try tally(number, UInt64(50 + seed), isEnrolled: true) }
            }
            for number in count..<count + Self.strangers { try tally(number, 50, isEnrolled: false) }
            reader.reader.disarm(1)
            let (genuine, impostors) = (count * Self.impressions, Self.strangers * count)
            print(
                """
                \(genuine) pairs of the same finger: \(rejected) false rejects; \(impostors) pairs of different fingers: \
                \(accepted) false accepts; \(unusable) pictures unusable; \
                \(count + Self.strangers) fingers made in \(made.formatted(.number.precision(.fractionLength(1)))) s
                """)
            // The decision is libfprint's: a score of 40 matches, strangers reach up to about 40 and the same finger at least
            // 180. A reader that takes misses for matches would accept all of them.
            #expect(accepted <= impostors / 100)
            #expect(rejected <= genuine / 10)
            #expect(unusable <= 2)
        }

        private func rearm(_ reader: ReaderUnderTest, _ machine: Fprintd) throws {
            reader.reader.disarm(1)
            try machine.released()
            reader.arm(1)
        }

        @Test func aPictureWithoutAFingerIsGuidance() throws {
            let machine = try Fprintd(.image)
            try enroll(SyntheticFinger(seed: 1), 0, as: "right-index-finger", on: machine)
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            reader.arm()
            #expect(try result(.blank, reader, machine) == .guidance(.scanAgain))
        }
    }
}
