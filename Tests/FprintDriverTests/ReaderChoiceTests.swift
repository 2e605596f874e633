// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import Synchronization
import TestSupport
import Testing

@testable import latchkey_fingerprint

extension FprintDriverTests {
    /// `latchkey fingerprint` with a program that answers as an fprintd whose readers change.
    @Suite(.needs(.messageBus), .timeLimit(.minutes(1))) struct ReaderChoiceTests {
        private static let first = "/net/reactivated/Fprint/Device/0"
        private static let second = "/net/reactivated/Fprint/Device/1"
        private static let changes: Set = ["Claim", "EnrollStart", "DeleteEnrolledFinger", "DeleteEnrolledFingers2"]

        private let bus: PrivateBus

        init() throws { bus = try PrivateBus() }

        /// Answers as fprintd.
        ///
        /// - Parameters:
        ///   - names: the names of the readers, by their paths.
        ///   - gone: the readers that are in the list of readers, and unplugged when they are asked something.
        private func fprintd(_ names: [String: String], gone: [String: String] = [:]) throws -> BusProgram {
            try BusProgram(bus, name: "net.reactivated.Fprint") { call in
                if let error = gone[call.path] { return .error(error) }
                return switch call.member {
                case "GetDevices": .values([.paths((Array(names.keys) + gone.keys).sorted())])
                case "ListEnrolledFingers": .values([.strings(["left-thumb"])])
                case "Get": .values([.variant(.string(names[call.path] ?? ""))])
                default: .values([])
                }
            }
        }

        /// Runs the command; returns its output, or its failure.
        private func run(_ arguments: [String]) throws -> (output: String, failure: Failure?) {
            let bus = try SystemBus(address: bus.address)
            let text = Mutex("")
            defer { bus.end() }
            var surroundings = FingerprintCommand.Surroundings(
                bus: bus, account: Fprintd.account, userID: UInt32(geteuid()),
                write: { written in text.withLock { $0 += written } }, ask: { _ in nil })
            surroundings.trustedUser = UInt32(geteuid())
            do throws(Failure) {
                try FingerprintCommand(surroundings).run(arguments)
                return (text.withLock { $0 }, nil)
            } catch {
                return (text.withLock { $0 }, error)
            }
        }

        private func changed(_ service: BusProgram) -> [BusProgram.Call] {
            service.received.filter { Self.changes.contains($0.member) }
        }

        @Test func theListForProgramsHasThePathOfEachReader() throws {
            let service = try fprintd([Self.first: "A reader", Self.second: "A reader"])
            defer { service.end() }
            let list = try run(["list", "--plain"])
            #expect(
                list.output == "reader\tA reader\tpress\t\(Self.first)\nfinger\tleft-thumb\n"
                    + "reader\tA reader\tpress\t\(Self.second)\nfinger\tleft-thumb\n")
        }

        @Test func theListInJSONHasTheNumberOfEachReader() throws {
            let service = try fprintd([Self.first: "A \"reader\"", Self.second: "A reader"])
            defer { service.end() }
            let list = try run(["list", "--json"])
            #expect(list.failure == nil)
            #expect(
                list.output
                    == #"[{"number":1,"name":"A \"reader\"","scan":"press","fingers":["left-thumb"]},"#
                    + #"{"number":2,"name":"A reader","scan":"press","fingers":["left-thumb"]}]"# + "\n")
        }

        @Test func withoutAReaderTheListInJSONIsEmptyAndFails() throws {
            let service = try fprintd([:])
            defer { service.end() }
            let list = try run(["list", "--json"])
            #expect(list.output == "[]\n")
            #expect(list.failure?.status == .biometryNotAvailable)
            #expect(list.failure?.message == "There is no fingerprint reader.")
        }

        @Test func aReaderOfAProgramIsTheOneAtItsPath() throws {
            let service = try fprintd([Self.first: "A reader", Self.second: "A reader"])
            defer { service.end() }
            let deleted = try run([
                "delete", "left-thumb", "--yes", "--plain", "--reader", "A reader", "--path", Self.second,
            ])
            #expect(deleted.failure == nil)
            #expect(changed(service).map(\.path) == [Self.second, Self.second])
        }

        /// fprintd counts its readers from 0 again after it was restarted.
        @Test(arguments: ["delete", "enroll"])
        func anotherReaderAtThePathIsNotUsed(_ verb: String) throws {
            let service = try fprintd([Self.first: "Another reader", Self.second: "A reader"])
            defer { service.end() }
            for path in [Self.first, "/net/reactivated/Fprint/Device/2"] {
                let arguments = verb == "delete" ? ["delete", "left-thumb", "--yes"] : ["enroll", "right-thumb"]
                let done = try run(arguments + ["--plain", "--reader", "A reader", "--path", path])
                #expect(done.failure?.status == .biometryDisconnected)
            }
            #expect(changed(service).isEmpty)
        }

        @Test func withoutAgreementNoPrintIsReplaced() throws {
            let service = try fprintd([Self.first: "A reader"])
            defer { service.end() }
            let done = try run(["enroll", "left-thumb", "--plain", "--reader", "A reader", "--path", Self.first])
            #expect(done.failure?.status == .duplicateItem)
            #expect(changed(service).isEmpty)
        }

        @Test(arguments: [
            ["--plain", "--path", first], ["--reader", "A reader", "--path", first], ["--plain", "--path"],
        ])
        func aPathNeedsANameAndIsForPrograms(_ options: [String]) throws {
            let bus = try SystemBus(address: "unix:path=/nowhere")
            defer { bus.end() }
            let surroundings = FingerprintCommand.Surroundings(
                bus: bus, account: "root", userID: 0, write: { _ in }, ask: { _ in nil })
            #expect(throws: Failure(.invalidParameter)) {
                try FingerprintCommand(surroundings).run(["delete", "left-thumb", "--yes"] + options)
            }
        }

        @Test(arguments: [
            "net.reactivated.Fprint.Error.NoSuchDevice", "org.freedesktop.DBus.Error.UnknownMethod",
            "org.freedesktop.DBus.Error.UnknownObject",
        ])
        func aReaderThatIsUnpluggedMeanwhileIsLeftOut(_ error: String) throws {
            let service = try fprintd([Self.second: "A reader"], gone: [Self.first: error])
            defer { service.end() }
            let list = try run(["list"])
            #expect(list.failure == nil && list.output == "left-thumb\n")
        }

        @Test func aNameCannotControlTheTerminal() throws {
            let service = try fprintd([Self.first: "A\u{1b}[2Jreader\n\u{202e}", Self.second: "Another"])
            defer { service.end() }
            let shown = "A\u{fffd}[2Jreader\u{fffd}\u{fffd}"
            #expect(try run(["list"]).output.hasPrefix("1  \(shown)\n   left-thumb\n"))
            #expect(try run(["list", "--plain"]).output.hasPrefix("reader\t\(shown)\tpress\t"))
            let unknown = try run(["delete", "left-thumb", "--yes", "--reader", "x"]).failure
            #expect(unknown?.hint.contains(shown) == true)
        }
    }
}
