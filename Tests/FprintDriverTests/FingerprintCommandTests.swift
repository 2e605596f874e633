// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Foundation
import LatchkeyModel
import LatchkeySystem
import LatchkeyWords
import Synchronization
import TestSupport
import Testing

@testable import latchkey_fingerprint

extension FprintDriverTests {
    /// `latchkey fingerprint` with the real fprintd and a virtual reader.
    @Suite(.needs(.fprintd), .timeLimit(.minutes(2))) struct FingerprintCommandTests {
        /// A command in front of a person who scans a finger whenever they are asked to.
        private final class Person: Sendable {
            let machine: Fprintd
            let bus: SystemBus
            private let text = Mutex("")
            private let scans = Mutex<[String]>([])
            private let answer: String?
            private let reader: Fprintd.Reader
            private let words: Words
            private let timing: FprintDriverTiming

            init(
                _ machine: Fprintd, scans: [String] = [], answer: String? = nil, reader: Fprintd.Reader = .device,
                words: Words = .plainEnglish, timing: FprintDriverTiming = .forTests
            ) throws {
                self.timing = timing
                self.machine = machine
                self.words = words
                self.reader = reader
                self.answer = answer
                self.scans.withLock { $0 = scans }
                bus = try SystemBus(address: machine.bus.address)
            }

            deinit { bus.end() }

            var output: String { text.withLock { $0 } }

            /// Runs the command, and returns the status of its failure.
            func run(_ arguments: String...) -> Failure? {
                var surroundings = FingerprintCommand.Surroundings(
                    bus: bus, account: Fprintd.account, userID: UInt32(geteuid()),
                    write: { [self] text in
                        self.text.withLock { $0 += text }
                        if ["reader", "again", "Touch", "Leser", "noch einmal"].contains(where: { text.contains($0) }) {
                            scanLater()
                        }
                    },
                    ask: { [self] question in
                        text.withLock { $0 += question + "\n" }
                        return answer
                    })
                surroundings.trustedUser = UInt32(geteuid())
                surroundings.words = words
                surroundings.timing = timing
                do throws(Failure) {
                    try FingerprintCommand(surroundings).run(arguments)
                    return nil
                } catch {
                    return error
                }
            }

            /// Scans the next finger as soon as the reader is claimed.
            private func scanLater() {
                guard let scan = scans.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
                Processes.detachThread { [machine, reader] in _ = machine.sendWhenClaimed(scan, to: reader) }
            }
        }

        @Test func anEnrolmentShowsAPictureOfEachStage() throws {
            let person = try Person(Fprintd(.device), scans: Array(repeating: "SCAN A", count: 6))
            #expect(person.run("enroll", "left-thumb") == nil)
            let lines = person.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == "Swipe the reader with your left thumb: Virtual device for debugging")
            #expect(lines[1] == "●○○○○  1 of 5  Lift your finger, and swipe again.")
            #expect(lines.suffix(2) == ["●●●●●  5 of 5  Done.", "Your left thumb is enrolled."], "\(lines)")
            #expect(
                try person.machine.client.device("ListEnrolledFingers", Fprintd.account)[0].values == [
                    .string("left-thumb")
                ])
        }

        private func german() throws -> Words {
            let catalogue: Catalogue = try #require(Catalogue(try Catalogues().bytes("de")))
            return Words(language: "de", catalogue: catalogue, isolates: false)
        }

        @Test func theTextsAreThoseOfTheLanguage() throws {
            let person = try Person(
                Fprintd(.device), scans: Array(repeating: "SCAN A", count: 6), answer: "delete", words: german())
            #expect(person.run("enroll", "left-thumb") == nil)
            let lines = person.output.split(separator: "\n").map(String.init)
            #expect(lines[0] == "Streichen Sie mit Ihrem linken Daumen über den Leser: Virtual device for debugging")
            #expect(lines[1] == "●○○○○  1 von 5  Heben Sie den Finger und streichen Sie noch einmal.")
            #expect(lines.last == "Ihr linker Daumen ist registriert.", "\(lines)")
            let failure = try #require(person.run("delete", "right-thumb"))
            #expect(try german()(failure.message) == "Ihr rechter Daumen ist nicht registriert.")
            #expect(person.run("delete", "left-thumb") == nil)
            #expect(person.output.hasSuffix("Tippen Sie delete, um fortzufahren: \nGelöscht.\n"))
        }

        @Test func withPlainOutputForProgramsNothingIsTranslated() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let list = try Person(machine, words: german())
            #expect(list.run("list", "--plain") == nil)
            #expect(
                list.output == "reader\tVirtual device for debugging\tswipe\t\(BusClient.device)\n"
                    + "finger\tright-index-finger\n")
        }

        @Test func aWrongCommandLineIsExplainedInTheLanguage() throws {
            let bus = try SystemBus(address: "unix:path=/nowhere")
            defer { bus.end() }
            var surroundings = FingerprintCommand.Surroundings(
                bus: bus, account: "root", userID: 0, write: { _ in }, ask: { _ in nil })
            surroundings.words = try german()
            do throws(Failure) {
                try FingerprintCommand(surroundings).run(["enrol"])
                Issue.record("it was understood")
            } catch {
                #expect(try german()(error.message) == "Die Befehlszeile wird nicht verstanden.")
                #expect(error.hint.hasPrefix("Aufruf: latchkey fingerprint list [--json]\n"))
            }
        }

        @Test func guidanceIsShownAndCountsNoStage() throws {
            let scans = ["SCAN A", "RETRY 2"] + Array(repeating: "SCAN A", count: 5)
            let person = try Person(Fprintd(.device), scans: scans)
            #expect(person.run("enroll") == nil)
            #expect(person.output.contains("●○○○○  1 of 5  Centre your finger on the reader, and try again."))
        }

        @Test func aReplacementWarnsFirstAndWithoutTheWordNothingChanges() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let place = "\(machine.state)/\(Fprintd.account)/virtual_device/0/7"
            let before = try Data(contentsOf: URL(filePath: place))
            for answer in [nil, "yes"] {
                let person = try Person(machine, answer: answer)
                #expect(person.run("enroll", "right-index-finger")?.status == .userCancel)
                #expect(person.output.contains("if you stop before the end, none remains"))
                #expect(try Data(contentsOf: URL(filePath: place)) == before)
            }
            let person = try Person(machine, scans: Array(repeating: "SCAN B", count: 6), answer: "replace")
            #expect(person.run("enroll", "right-index-finger") == nil)
            #expect(try Data(contentsOf: URL(filePath: place)) != before)
        }

        @Test func fingersAreListedAndDeleted() throws {
            let machine = try Fprintd(.device)
            let nothing = try Person(machine)
            #expect(nothing.run("list") == nil)
            #expect(nothing.output == "No finger is enrolled on Virtual device for debugging.\n")
            let empty = try Person(machine)
            #expect(empty.run("list", "--json") == nil)
            #expect(
                empty.output
                    == #"[{"number":1,"name":"Virtual device for debugging","scan":"swipe","fingers":[]}]"# + "\n")
            try machine.enroll("A")
            try machine.enroll("B", as: "left-thumb")
            let list = try Person(machine)
            #expect(list.run("list") == nil)
            #expect(list.output == "left-thumb\nright-index-finger\n")
            let json = try Person(machine, words: german())
            #expect(json.run("list", "--json") == nil)
            #expect(json.output.hasSuffix(#""fingers":["left-thumb","right-index-finger"]}]"# + "\n"), "\(json.output)")
            #expect(try Person(machine).run("delete", "right-thumb")?.status == .itemNotFound)
            #expect(try Person(machine).run("delete", "left-thumb")?.status == .userCancel)
            #expect(try Person(machine, answer: "delete").run("delete", "left-thumb") == nil)
            #expect(try Person(machine).run("delete", "--all", "--yes") == nil)
            #expect(try Person(machine).run("verify")?.status == .biometryNotEnrolled)
        }

        @Test func aFingerThatIsEnrolledUnderAnotherNameIsRefused() throws {
            let machine = try Fprintd(.storage)
            try machine.enroll("A", on: .storage)
            let person = try Person(machine, scans: ["SCAN A"], reader: .storage)
            #expect(person.run("enroll", "left-thumb")?.status == .duplicateItem)
            #expect(
                try machine.client.device("ListEnrolledFingers", Fprintd.account)[0].values == [
                    .string("right-index-finger")
                ])
        }

        @Test func aTrySaysWhetherTheFingerIsRecognised() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            #expect(try Person(machine, scans: ["SCAN A"]).run("verify") == nil)
            try machine.released()
            #expect(try Person(machine, scans: ["SCAN B"]).run("verify")?.status == .authenticationFailed)
        }

        @Test func anEnrolmentWithoutAFingerEndsAtItsDeadlineAndReleasesTheReader() throws {
            let machine = try Fprintd(.device)
            var timing = FprintDriverTiming.forTests
            timing.scan = 50
            let failure = try #require(Person(machine, timing: timing).run("enroll"))
            #expect(failure.status == .timedOut)
            try machine.released()
            #expect(try Person(machine).run("verify")?.status == .biometryNotEnrolled)
        }

        // MARK: - Two readers

        /// libfprint's names of its virtual readers.
        private static let names = [
            Fprintd.Reader.device: "Virtual device for debugging",
            .storage: "Virtual device with storage and identification for debugging",
        ]

        /// A machine with two readers, and a finger on each.
        private func twoReaders() throws -> Fprintd {
            let machine = try Fprintd(.device, .storage)
            for (reader, finger, print) in [
                (Fprintd.Reader.device, "left-thumb", "A"), (.storage, "right-thumb", "B"),
            ] {
                let scans = Array(repeating: "SCAN \(print)", count: 8)
                let person = try Person(machine, scans: scans, reader: reader)
                #expect(person.run("enroll", finger, "--reader", Self.names[reader] ?? "") == nil, "\(person.output)")
            }
            return machine
        }

        @Test func everyReaderIsListedWithItsFingers() throws {
            let machine = try twoReaders()
            let list = try Person(machine)
            #expect(list.run("list") == nil)
            for (name, finger) in [(Self.names[.device], "left-thumb"), (Self.names[.storage], "right-thumb")] {
                #expect(list.output.contains("  \(name ?? "")\n   \(finger)\n"), "\(list.output)")
            }
            let plain = try Person(machine)
            #expect(plain.run("list", "--plain") == nil)
            #expect(plain.output.split(separator: "\n").count == 4, "\(plain.output)")
        }

        @Test func theReaderWithTheFingerIsUsedUnlessAnotherOneIsNamed() throws {
            let machine = try twoReaders()
            #expect(
                try Person(machine).run("delete", "right-thumb", "--yes", "--reader", Self.names[.device] ?? "")?.status
                    == .itemNotFound)
            for wrong in ["Virtual", "0", "3"] {
                let failure = try Person(machine).run("delete", "right-thumb", "--yes", "--reader", wrong)
                #expect(failure?.status == .invalidParameter)
            }
            for finger in ["right-thumb", "left-thumb"] {
                #expect(try Person(machine).run("delete", finger, "--yes") == nil)
                #expect(try Person(machine).run("delete", finger, "--yes")?.status == .itemNotFound)
            }
        }

        @Test func everyFingerOfEveryReaderIsDeleted() throws {
            let machine = try twoReaders()
            #expect(try Person(machine).run("delete", "--all", "--yes") == nil)
            #expect(try Person(machine).run("verify")?.status == .biometryNotEnrolled)
        }

        @Test func aFingerOnEitherReaderMatches() throws {
            let machine = try twoReaders()
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let set = try #require(reader.state.enrolment)
            for (evaluation, place, print) in [(UInt64(1), Fprintd.Reader.storage, "B"), (2, .device, "A")] {
                reader.arm(evaluation)
                try #require(machine.sendWhenClaimed("SCAN \(print)", to: place))
                #expect(try reader.next() == .match(set, isVirtual: true))
                reader.reader.disarm(evaluation)
                try machine.released()
            }
        }

        @Test func polkitsRefusalIsExplained() throws {
            let machine = try Fprintd(.device)
            machine.allow { $0 != "net.reactivated.fprint.device.enroll" }
            let failure = try #require(Person(machine).run("enroll"))
            #expect(failure.status == .notPermitted)
            #expect(failure.hint.contains("net.reactivated.fprint.device.enroll"))
        }

        @Test(arguments: [
            ["enrol"], ["list", "x"], ["enroll", "thumb"], ["delete"], ["delete", "left-thumb", "--all"],
            ["enroll", "--yes"], ["verify", "--all"], ["list", "--reader", "1"],
            ["list", "--plain", "--json"], ["enroll", "--json"], ["enroll", "--reader"],
            ["enroll", "--reader", "1", "--reader", "1"],
        ])
        func aWrongCommandLineIsRefused(_ arguments: [String]) throws {
            let bus = try SystemBus(address: "unix:path=/nowhere")
            defer { bus.end() }
            let surroundings = FingerprintCommand.Surroundings(
                bus: bus, account: "root", userID: 0, write: { _ in }, ask: { _ in nil })
            #expect(throws: Failure(.invalidParameter)) { try FingerprintCommand(surroundings).run(arguments) }
        }
    }
}
