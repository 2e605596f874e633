// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct TierRowTests {
    private static let socket = "/run/latchkey/public/keychain.sock"
    private static let sound = DoctorRow("system sockets", .ok, "")

    @Test(arguments: [
        (TierFacts(chosenFolder: "/a"), "LATCHKEY_HOME names it"),
        (TierFacts(ownStore: "/home/a", systemSocket: socket), "it exists"),
        (TierFacts(), "this machine has no system keychain"),
    ]) func ownStoreHasAReason(facts: TierFacts, reason: String) {
        let row = DoctorRow.tier(facts, .user, sockets: Self.sound)
        #expect(row == DoctorRow("tier", .ok, "user: the user's own store, because \(reason)"))
        #expect(!facts.isSystem)
        #expect(DoctorRow.tier(facts, .simulated, sockets: Self.sound).found.contains("protects nothing"))
    }

    @Test func keychainOfTheSystemNamesItsUser() {
        let facts = TierFacts(systemSocket: Self.socket, systemUser: .success(990))
        #expect(
            DoctorRow.tier(facts, .file, sockets: Self.sound)
                == DoctorRow("tier", .ok, "file: the system's keychain, served by user 990"))
        #expect(facts.isSystem)
    }

    @Test func socketsThatAreNotTrustedAreNotReplacedByAnOwnStore() {
        let facts = TierFacts(systemSocket: Self.socket, systemUser: .failure(Failure(.peerNotTrusted, "Not root's.")))
        let row = DoctorRow.tier(facts, nil, sockets: Self.sound)
        #expect(row.state == .attention && facts.isSystem)
        #expect(row.found.contains("Not root's."))
    }

    @Test func socketsThatAreNotTrustedAreMendedByTheCommandOfTheTier() throws {
        let machine = try TemporaryMachine()
        let listeners = try machine.listen()
        try machine.setMode("/run/latchkey", 0o777)
        var facts = TierFacts(systemUser: .failure(Failure(.peerNotTrusted, "Others can change the folder.")))
        let row = DoctorRow.tier(facts, nil, sockets: .systemSockets(SocketFacts(machine.places, storeUser: nil)))
        #expect(row.state == .attention && row.hint?.needsRoot == true)
        try row.mend()
        facts.systemUser = .success(0)
        let sockets = DoctorRow.systemSockets(SocketFacts(machine.places, storeUser: nil))
        #expect(sockets.state == .ok && DoctorRow.tier(facts, .file, sockets: sockets).state == .ok)
        withExtendedLifetime(listeners) {}
    }

    @Test func storeBesideTheSystemsKeychainIsNamedWithIt() {
        let row = DoctorRow.otherStore(TierFacts(ownStore: "/home/a", systemSocket: Self.socket))
        #expect(row.state == .attention && row.found.contains("/home/a") && row.found.contains(Self.socket))
        #expect(row.hint == DoctorRow.Hint("latchkey migrate"))
        // One of them alone, or a folder chosen on purpose, is no conflict.
        for facts in [
            TierFacts(ownStore: "/home/a"), TierFacts(systemSocket: Self.socket),
            TierFacts(chosenFolder: "/a", ownStore: "/a", systemSocket: Self.socket),
        ] {
            #expect(DoctorRow.otherStore(facts).state == .ok)
        }
    }

    @Test func configuredKeychainWithoutSocketIsNotReplacedByAnOwnStore() throws {
        let machine = try TemporaryMachine()
        try machine.write("/etc/latchkey/latchkeyd.conf", "tier = file\n")
        // Any folder that has no store stands for the user's.
        let answer = Result { () throws(Failure) in
            try DaemonFinder.systemUser(machine.places.sockets, ownStore: machine.root)
        }
        #expect(throws: Failure.self) { try answer.get() }
        let sockets = DoctorRow.systemSockets(SocketFacts(machine.places, storeUser: nil))
        let row = DoctorRow.tier(TierFacts(systemUser: answer), nil, sockets: sockets)
        #expect(row.state == .attention && row.found.contains("keychain.sock is missing"), "\(row)")
        #expect(row.hint?.command.contains("systemctl enable --now latchkeyd.socket") == true, "\(row)")
        try machine.write("/root.key", "")
        #expect(try DaemonFinder.systemUser(machine.places.sockets, ownStore: machine.root) == nil)
    }

    @Test func socketIsFoundBelowTheRootFolder() throws {
        let machine = try TemporaryMachine()
        #expect(TierFacts(machine.places).systemSocket == nil)
        let listeners = try machine.listen()
        #expect(TierFacts(machine.places).systemSocket == machine.places.sockets.keychain)
        withExtendedLifetime(listeners) {}
    }
}

@Suite struct KernelRowTests {
    @Test func runningKernelIsRead() {
        let facts = KernelFacts()
        #expect(facts.release.contains("."))
        #expect(DoctorRow.kernel(facts, isSystem: false).state == .ok)
    }

    @Test func kernelWithoutHandlesSaysHowProcessesAreKnown() {
        let facts = KernelFacts(release: "6.1", hasPeerProcess: false, reportsMounts: true)
        let row = DoctorRow.kernel(facts, isSystem: true)
        #expect(row.state == .ok && row.found.contains("start time"))
        #expect(
            !DoctorRow.kernel(KernelFacts(release: "6.5", hasPeerProcess: true, reportsMounts: true), isSystem: true)
                .found.contains("start time"))
    }

    @Test func systemServicesNeedAKernelThatReportsMounts() {
        let facts = KernelFacts(release: "5.4", hasPeerProcess: false, reportsMounts: false)
        let row = DoctorRow.kernel(facts, isSystem: true)
        #expect(row.state == .attention && row.found.hasSuffix("install a later kernel"))
        #expect(DoctorRow.kernel(facts, isSystem: false).state == .ok)
    }

    @Test func versionNamesTheProgram() {
        #expect(
            DoctorRow.version(executable: "/usr/bin/latchkey").found == "version \(productVersion), /usr/bin/latchkey")
    }
}
