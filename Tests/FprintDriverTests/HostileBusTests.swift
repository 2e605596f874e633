// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization
import TestPromises
import TestSupport
import Testing

extension FprintDriverTests {
    /// The driver with programs that are not fprintd, or that do not behave as it does.
    @Suite(.needs(.messageBus), .timeLimit(.minutes(1))) struct HostileBusTests {
        private static let service = "net.reactivated.Fprint"
        private static let interface = "net.reactivated.Fprint.Device"
        private static let device = BusClient.device

        /// Answers as fprintd with one reader and one finger, except to some methods.
        ///
        /// - Parameter answer: the answer to a call; nil for that of `others` or fprintd.
        private func fprintd(
            _ bus: PrivateBus, _ others: [String: BusProgram.Reply] = [:], name: String? = service,
            answer: @escaping @Sendable (BusProgram.Call) -> BusProgram.Reply? = { _ in nil },
            called: @escaping @Sendable (BusProgram.Call) -> Void = { _ in }
        ) throws -> BusProgram {
            try BusProgram(bus, name: name) { call in
                defer { called(call) }
                if let reply = answer(call) ?? others[call.member] { return reply }
                return switch call.member {
                case "Get": .values([.variant(.string("A reader"))])
                case "GetDevices": .values([.paths([Self.device])])
                case "ListEnrolledFingers": .values([.strings(["right-index-finger"])])
                default: .values([])
                }
            }
        }

        /// Short limits, of which each test reaches at most two.
        private var short: FprintReader.Timing {
            var timing = FprintReader.Timing()
            (timing.call, timing.start, timing.state) = (500, 500, 5000)
            return timing
        }

        private func reader(
            _ bus: PrivateBus, trustedUser: UInt32 = ReaderUnderTest.user, timing: FprintReader.Timing = .forTests
        ) throws -> ReaderUnderTest {
            try ReaderUnderTest(bus, templates: nil, trustedUser: trustedUser, timing: timing)
        }

        private typealias Called = Recorder<BusProgram.Call>

        // MARK: - Who sends

        @Test(.promise("fprintd.result", "abuse.14")) func aSignalOfAnotherProgramIsIgnoredAndLoggedOnce_abuse14()
            throws
        {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, called: called.add)
            defer { service.end() }
            let forger = try BusProgram(bus, name: nil) { _ in .none }
            defer { forger.end() }
            let reader = try reader(bus)
            reader.arm()
            let victim = try called.wait(for: "VerifyStart").sender
            for _ in 0..<3 {
                let match: [BusProgram.Value] = [.string("verify-match"), .flag(true)]
                forger.signal(Self.device, Self.interface, "VerifyStatus", match)
                forger.signal(Self.device, Self.interface, "VerifyStatus", match, to: victim)
            }
            // The bus keeps the order of one sender only, so the forger's last signal must have arrived first.
            try reader.log.wait(for: .sensorRefused)
            service.signal(Self.device, Self.interface, "VerifyStatus", [.string("verify-no-match"), .flag(true)])
            #expect(try reader.next() == .noMatch)
            #expect(reader.log.events == [.sensorRefused])
            #expect(reader.log.messages[0].contains(forger.uniqueName))
        }

        @Test(.promise("fprintd.result", "abuse.17")) func aNameOfAnotherUserIsNotTrusted_abuse17() throws {
            let bus = try PrivateBus()
            let service = try fprintd(bus)
            defer { service.end() }
            let reader = try reader(bus, trustedUser: 12345)
            #expect(reader.state == .absent)
            reader.arm()
            #expect(try reader.next() == .failed)
            #expect(reader.log.events == [.sensorRefused, .sensorRefused])
            #expect(reader.log.messages[0].contains("belongs to user \(ReaderUnderTest.user), not to root"))
            #expect(service.received.isEmpty, "nothing is sent to it")
        }

        @Test(.promise("fprintd.result", "abuse.15"))
        func aResultBeforeTheVerificationOrAfterItsEndDoesNotCount_abuse15() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, called: called.add)
            defer { service.end() }
            let match: [BusProgram.Value] = [.string("verify-match"), .flag(true)]
            let reader = try reader(bus)
            _ = reader.state
            service.signal(Self.device, Self.interface, "VerifyStatus", match)
            reader.arm()
            _ = try called.wait(for: "VerifyStart")
            reader.reader.disarm(1)
            service.signal(Self.device, Self.interface, "VerifyStatus", match)
            _ = try called.wait(for: "Release")
            service.signal(Self.device, Self.interface, "VerifyStatus", match)
            try reader.settle()
            #expect(reader.all.isEmpty)
        }

        @Test func aResultThatIsFasterThanTheAnswerCounts() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, called: called.add)
            defer { service.end() }
            let reader = try reader(bus)
            let set = try #require(reader.state.enrolment)
            service.signalBefore(
                "VerifyStart", Self.device, Self.interface,
                [("VerifyStatus", [.string("verify-match"), .flag(true)])])
            reader.arm()
            #expect(try reader.next() == .match(set, isVirtual: false))
        }

        @Test func aResultOfAnotherDeviceDoesNotCount() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, called: called.add)
            defer { service.end() }
            let reader = try reader(bus)
            reader.arm()
            _ = try called.wait(for: "VerifyStart")
            let match: [BusProgram.Value] = [.string("verify-match"), .flag(true)]
            service.signal("/net/reactivated/Fprint/Device/1", Self.interface, "VerifyStatus", match)
            service.signal(Self.device, Self.interface, "VerifyStatus", [.string("verify-no-match"), .flag(true)])
            #expect(try reader.next() == .noMatch)
        }

        @Test(
            .promise("fprintd.result"),
            arguments: [
                ("verify-new-result", true, SensorEvent.failed), ("verify-new-result", false, .guidance(.scanAgain)),
                ("verify-match", false, .failed), ("", true, .failed), ("verify-unknown-error", true, .failed),
                ("verify-disconnected", true, .disconnected), ("verify-too-fast", false, .guidance(.tooFast)),
            ])
        func onlyTheResultMatchIsAMatch(_ result: String, _ isDone: Bool, _ event: SensorEvent) throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, called: called.add)
            defer { service.end() }
            let reader = try reader(bus)
            reader.arm()
            _ = try called.wait(for: "VerifyStart")
            // Signals that are not of fprintd's form are dropped.
            service.signal(Self.device, Self.interface, "VerifyStatus", [.flag(true)])
            service.signal(Self.device, Self.interface, "VerifyStatus", [.string("verify-match")])
            service.signal(Self.device, Self.interface, "VerifyStatus", [.string("verify-match"), .string("true")])
            service.signal(Self.device, Self.interface, "VerifyStatus", [.string(result), .flag(isDone)])
            #expect(try reader.next() == event)
        }

        // MARK: - Who does not answer

        @Test(arguments: ["GetDevices", "Get", "ListEnrolledFingers"])
        func aStateHasADeadline(_ silent: String) throws {
            let bus = try PrivateBus()
            let service = try fprintd(bus, [silent: .none])
            defer { service.end() }
            let reader = try reader(bus, timing: short)
            #expect(reader.state == .absent)
            #expect(reader.log.events == [.sensorFailed])
            #expect(reader.log.messages[0].contains("no answer before the deadline"))
        }

        @Test(arguments: ["GetDevices", "ListEnrolledFingers", "Claim", "VerifyStart"])
        func aScanThatDoesNotBeginHasADeadline(_ silent: String) throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, [silent: .none], called: called.add)
            defer { service.end() }
            let reader = try reader(bus, timing: short)
            reader.arm()
            #expect(try reader.next() == .failed)
            #expect(reader.log.events == [.sensorFailed])
            if silent == "VerifyStart" { _ = try called.wait(for: "Release") }
        }

        @Test(arguments: ["Claim", "Release"])
        func aClaimThatCannotBeReleasedEndsWithTheConnection(_ silent: String) throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, [silent: .none], called: called.add)
            defer { service.end() }
            let client = try BusClient(bus)
            // Its rules are installed.
            _ = try client.hasOwner(Self.service)
            let reader = try reader(bus, timing: short)
            reader.arm()
            let name = try called.wait(for: silent == "Claim" ? "Claim" : "VerifyStart").sender
            reader.reader.disarm(1)
            try client.signal { $0.member == "NameOwnerChanged" && $0.arguments[0].text == name }
            // The next scan has a connection of its own.
            reader.arm(2)
            _ = try called.wait(for: "Claim")
        }

        @Test func aVerificationThatCannotBeStoppedIsReleased() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(bus, ["VerifyStop": .none], called: called.add)
            defer { service.end() }
            let reader = try reader(bus, timing: short)
            reader.arm()
            _ = try called.wait(for: "VerifyStart")
            reader.reader.disarm(1)
            _ = try called.wait(for: "Release")
        }

        @Test func aFprintdThatDoesNotStartHasADeadline() throws {
            let bus = try PrivateBus(startable: Self.service)
            let reader = try reader(bus, timing: short)
            #expect(reader.state == .absent)
            #expect(reader.log.events == [.sensorFailed])
            #expect(reader.log.messages[0].contains("fprintd does not start (no answer before the deadline"))
        }

        @Test func aReaderThatIsGoneWithoutAnAnnouncementFailsAtItsDeadline() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let service = try fprintd(
                bus, ["Release": .error("net.reactivated.Fprint.Error.Internal")], called: called.add)
            defer { service.end() }
            var timing = FprintReader.Timing()
            timing.unplugged = 50
            let reader = try reader(bus, timing: timing)
            reader.arm()
            try called.next { $0.member == "VerifyStart" }
            try reader.settle()
            service.signal(
                Self.device, Self.interface, "VerifyStatus", [.string("verify-unknown-error"), .flag(true)])
            #expect(try reader.next() == .failed)
            // Nothing of the earlier scan is left, so the next one begins.
            reader.arm(2)
            try called.next { $0.member == "VerifyStart" }
        }

        @Test func aMachineThatIsAlwaysAboutToSleepDelaysTheReleaseForALimitedTime() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let logind = try BusProgram(bus, name: "org.freedesktop.login1") { _ in .values([.variant(.flag(true))]) }
            defer { logind.end() }
            let service = try fprintd(bus, called: called.add)
            defer { service.end() }
            var timing = FprintReader.Timing()
            timing.sleep = 1
            let reader = try reader(bus, timing: timing)
            reader.arm()
            try called.wait(for: "VerifyStart")
            reader.reader.disarm(1)
            try called.wait(for: "Release")
            #expect(logind.received.filter { $0.member == "Get" }.count == 121)
        }

        @Test func aBusThatDoesNotAnswerHasADeadline() throws {
            let folder = try TemporaryFolder()
            let listener = try Sockets.listen(folder.path + "/socket")
            defer { withExtendedLifetime(listener) {} }
            let bus = try SystemBus(address: "unix:path=\(folder.path)/socket")
            defer { bus.end() }
            let log = CollectedLog()
            let reader = FprintReader(
                bus, templates: nil, allowsVirtual: false, configuration: "", timing: short, log: log)
            #expect(reader.state(for: ReaderUnderTest.user) == .absent)
        }

        @Test func withoutABusThereIsNoSensor() throws {
            let folder = try TemporaryFolder()
            let bus = try SystemBus(address: "unix:path=\(folder.path)/socket")
            defer { bus.end() }
            let log = CollectedLog()
            let reader = FprintReader(bus, templates: nil, allowsVirtual: false, configuration: "", log: log)
            #expect(reader.state(for: ReaderUnderTest.user) == .absent)
            #expect(log.events == [.sensorFailed])
            // Whether fprintd is installed or runs is not known then.
            #expect(log.messages[0].contains("no connection to the system's message bus"))
            #expect(!log.messages[0].contains("fprintd"))
        }

        @Test func withoutFprintdThereIsNoSensor() throws {
            let bus = try PrivateBus()
            let reader = try reader(bus)
            #expect(reader.state == .absent)
            #expect(reader.log.events.isEmpty, "a machine without fprintd is not an error")
        }

        @Test func aScanEndsWithTheConnection() throws {
            let called = Called()
            var bus: PrivateBus? = try PrivateBus()
            let reader = try reader(#require(bus))
            let service = try fprintd(#require(bus), called: called.add)
            defer { service.end() }
            reader.arm()
            _ = try called.wait(for: "VerifyStart")
            bus = nil
            #expect(try reader.next() == .failed)
        }

        // MARK: - Files of the prints

        @Test func printsOfAReaderThatIsNotConnectedAreNoEmptySet() throws {
            let bus = try PrivateBus()
            let service = try fprintd(
                bus, ["ListEnrolledFingers": .error("net.reactivated.Fprint.Error.NoEnrolledPrints")])
            defer { service.end() }
            let folder = try TemporaryFolder()
            let prints = "\(folder.path)/\(Fprintd.account)/another_reader/0"
            try FileManager.default.createDirectory(atPath: prints, withIntermediateDirectories: true)
            let reader = try ReaderUnderTest(bus, templates: folder.path)
            #expect(reader.state == SensorState(kind: .touchID), "without any print nothing is enrolled")
            try Data("a print".utf8).write(to: URL(filePath: prints + "/7"))
            #expect(try reader.change { $0 == .absent } == .absent)
        }

        @Test func fingersWithoutFilesAreNoSet() throws {
            let bus = try PrivateBus()
            let service = try fprintd(bus)
            defer { service.end() }
            let folder = try TemporaryFolder()
            let reader = try ReaderUnderTest(bus, templates: folder.path)
            #expect(reader.state == .absent)
            #expect(reader.log.messages[0].contains("there are no files of them"))
        }

        // MARK: - Virtual readers

        @Test(
            .promise("abuse.24"),
            arguments: [
                (BusProgram.Reply.values([.variant(.string("A reader"))]), false),
                (.values([.variant(.string("Virtual image device for debugging"))]), true),
                (.values([.variant(.number(7))]), true), (.values([]), true),
                (.error("org.freedesktop.DBus.Error.InvalidArgs"), true),
            ])
        func aReaderWithoutANameOfItsOwnCountsAsVirtual(_ answer: BusProgram.Reply, _ isVirtual: Bool) throws {
            let bus = try PrivateBus()
            let service = try fprintd(bus, ["Get": answer])
            defer { service.end() }
            #expect(try ReaderUnderTest(bus, templates: nil, allowsVirtual: true).state.isVirtual == isVirtual)
            let refusing = try ReaderUnderTest(bus, templates: nil, allowsVirtual: false)
            #expect((refusing.state == .absent) == isVirtual)
        }

        /// What fprintd says about its only reader.
        private final class Named: Sendable {
            let answer = Mutex(BusProgram.Reply.values([.variant(.string("A reader"))]))
            @Sendable func reply(_ call: BusProgram.Call) -> BusProgram.Reply? {
                call.member == "Get" ? answer.withLock { $0 } : nil
            }
            func name(_ name: String) { answer.withLock { $0 = .values([.variant(.string(name))]) } }
        }

        @Test(arguments: [
            BusProgram.Reply.error("org.freedesktop.DBus.Error.AccessDenied"),
            .error("org.freedesktop.DBus.Error.NoReply"), .error("net.reactivated.Fprint.Error.Internal"),
            .values([.variant(.number(7))]),
        ])
        func aNameThatCouldNotBeReadIsAskedForAgain(_ failure: BusProgram.Reply) throws {
            let (bus, named, called) = (try PrivateBus(), Named(), Called())
            named.answer.withLock { $0 = failure }
            let service = try fprintd(bus, answer: named.reply, called: called.add)
            defer { service.end() }
            let reader = try ReaderUnderTest(bus, templates: nil, allowsVirtual: false)
            #expect(reader.state == .absent)
            named.name("A reader")
            #expect(reader.state.kind == .touchID && !reader.state.isVirtual)
            // What was answered is not asked for again, until the readers change.
            named.answer.withLock { $0 = failure }
            let count = called.count(of: "Get")
            reader.arm()
            try called.wait(for: "VerifyStart")
            #expect(called.count(of: "Get") == count)
        }

        @Test func aReaderThatIsGoneIsNeitherRealNorVirtual() throws {
            let (bus, gone) = (try PrivateBus(), "/net/reactivated/Fprint/Device/1")
            let service = try fprintd(
                bus, ["GetDevices": .values([.paths([gone, Self.device])])],
                answer: { call in call.path == gone ? .error("org.freedesktop.DBus.Error.UnknownMethod") : nil })
            defer { service.end() }
            let reader = try ReaderUnderTest(bus, templates: nil, allowsVirtual: false)
            #expect(reader.state.kind == .touchID)
            #expect(reader.log.events.isEmpty)
        }

        enum Change: CaseIterable, Sendable { case removed, added, restarted }

        /// The state is what `allow-virtual-hardware` decides about, so another reader must not take over what is known about
        /// an earlier one at its path.
        @Test(arguments: Change.allCases)
        func aVirtualReaderAtThePathOfARealOneIsNotUsed_abuse24(_ change: Change) throws {
            let (bus, named) = (try PrivateBus(), Named())
            var service = try fprintd(bus, answer: named.reply)
            defer { service.end() }
            let reader = try ReaderUnderTest(bus, templates: nil, allowsVirtual: false)
            #expect(reader.state.kind == .touchID)
            named.name("Virtual image device for debugging")
            let manager = "/net/reactivated/Fprint"
            let objects = "org.freedesktop.DBus.ObjectManager"
            switch change {
            case .removed:
                service.signal(manager, objects, "InterfacesRemoved", [.path(Self.device), .strings([Self.interface])])
            case .added: service.signal(manager, objects, "InterfacesAdded", [.path(Self.device), .noProperties])
            case .restarted:
                service.end()
                service = try fprintd(bus, answer: named.reply)
            }
            #expect(try reader.change { $0 == .absent } == .absent)
            #expect(reader.log.messages.contains { $0.contains("it is a program: Virtual image device") })
        }

        // MARK: - Several readers

        @Test func aMatchSaysWhetherItsReaderIsVirtual_abuse24() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let virtual = "/net/reactivated/Fprint/Device/1"
            let service = try fprintd(
                bus, ["GetDevices": .values([.paths([Self.device, virtual])])],
                answer: { call in
                    call.member == "Get" && call.path == virtual
                        ? .values([.variant(.string("Virtual image device for debugging"))]) : nil
                }, called: called.add)
            defer { service.end() }
            let reader = try reader(bus)
            let set = try #require(reader.state.enrolment)
            #expect(reader.state.isVirtual)
            reader.arm()
            try called.wait(for: "VerifyStart", path: Self.device)
            try called.wait(for: "VerifyStart", path: virtual)
            try reader.settle()
            for (path, isVirtual) in [(Self.device, false), (virtual, true)] {
                service.signal(path, Self.interface, "VerifyStatus", [.string("verify-match"), .flag(true)])
                #expect(try reader.next() == .match(set, isVirtual: isVirtual))
            }
        }

        @Test func everyReaderWithAFingerIsUsed() throws {
            let (bus, called) = (try PrivateBus(), Called())
            let second = "/net/reactivated/Fprint/Device/1"
            let service = try fprintd(
                bus, ["GetDevices": .values([.paths([Self.device, second])])], called: called.add)
            defer { service.end() }
            let reader = try reader(bus)
            reader.arm()
            try called.wait(for: "VerifyStart", path: Self.device)
            try called.wait(for: "VerifyStart", path: second)
            try reader.settle()
            service.signal(second, Self.interface, "VerifyStatus", [.string("verify-unknown-error"), .flag(true)])
            try called.wait(for: "Release", path: second)
            service.signal(Self.device, Self.interface, "VerifyStatus", [.string("verify-match"), .flag(true)])
            guard case .match = try reader.next() else {
                return #expect(Bool(false), "the other reader ended the scan")
            }
            reader.reader.disarm(1)
            try called.wait(for: "Release", path: Self.device)
        }
    }
}

extension Recorder<BusProgram.Call> {
    fileprivate func count(of member: String) -> Int { all.count { $0.member == member } }

    /// Waits until a program was called.
    @discardableResult
    fileprivate func wait(for member: String, path: String? = nil) throws -> BusProgram.Call {
        try first { $0.member == member && (path == nil || $0.path == path) }
    }
}
