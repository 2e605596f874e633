// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

@Suite struct SystemRowsTests {
    private let machine: TemporaryMachine

    init() throws { machine = try TemporaryMachine() }

    private func sockets(storeUser: UInt32? = nil) -> DoctorRow {
        .systemSockets(SocketFacts(machine.places, storeUser: storeUser))
    }

    private var configuration: DoctorRow {
        .configuration(machine.places, isInstalled: SocketFacts(machine.places, storeUser: nil).isInstalled)
    }

    @Test func machineWithoutServicesHasNoSockets() {
        #expect(sockets().state == .absent && sockets().hint == nil)
        #expect(configuration.state == .absent && configuration.hint == nil)
    }

    @Test func socketsWithTheirOwnersAndModesAreFine() throws {
        let listeners = try machine.listen()
        #expect(sockets().state == .ok, "\(sockets())")
        withExtendedLifetime(listeners) {}
    }

    @Test(
        arguments: [
            ("/run", 0o777), ("/run/latchkey", 0o775), ("/run/latchkey/public", 0o757),
            ("/run/latchkey/public/keychain.sock", 0o600), ("/run/latchkey/authd.sock", 0o666),
            ("/run/latchkey/agents.sock", 0o660),
        ] as [(String, mode_t)]) func wrongModeIsNamedAndMended(path: String, mode: mode_t) throws
    {
        let listeners = try machine.listen()
        try machine.setMode(path, mode)
        let row = sockets()
        #expect(row.state == .attention && row.found.contains(machine.root + path), "\(row)")
        #expect(row.hint?.needsRoot == true)
        try row.mend()
        #expect(sockets().state == .ok, "\(sockets())")
        withExtendedLifetime(listeners) {}
    }

    @Test func allDefectsAreMendedAtOnce() throws {
        let listeners = try machine.listen()
        for (path, mode) in [("/run/latchkey", 0o777), ("/run/latchkey/agents.sock", 0o644)] as [(String, mode_t)] {
            try machine.setMode(path, mode)
        }
        try sockets().mend()
        #expect(sockets().state == .ok, "\(sockets())")
        withExtendedLifetime(listeners) {}
    }

    @Test func missingSocketIsStarted() throws {
        let listeners = try machine.listen()
        unlink(machine.places.sockets.agents)
        #expect(sockets().found.contains("agents.sock is missing"))
        #expect(sockets().hint?.command == "systemctl enable --now latchkey-authd.socket latchkey-agents.socket")
        withExtendedLifetime(listeners) {}
    }

    @Test func socketsThatAreMissingOnAConfiguredMachineAreStarted() throws {
        try machine.write("/etc/latchkey/latchkeyd.conf", "tier = file\n")
        let row = sockets()
        #expect(row.state == .attention && row.found.contains("keychain.sock is missing"), "\(row)")
        #expect(row.hint?.command.contains("systemctl enable --now latchkeyd.socket") == true, "\(row)")
    }

    @Test func socketOfAnotherUserIsRemovedAndNotAdopted() throws {
        let listeners = try machine.listen()
        var facts = SocketFacts(machine.places, storeUser: nil)
        facts.keychain?.owner = geteuid() + 1
        let row = DoctorRow.systemSockets(facts)
        #expect(row.found.contains("keychain.sock belongs to user \(geteuid() + 1)"))
        let path = machine.places.sockets.keychain
        #expect(row.hint?.command == "rm -f \(path) && systemctl restart latchkeyd.socket")
        withExtendedLifetime(listeners) {}
    }

    @Test func fileInPlaceOfSocketIsNoSocket() throws {
        let listeners = try machine.listen()
        unlink(machine.places.sockets.authority)
        try machine.write("/run/latchkey/authd.sock", mode: 0o660)
        #expect(sockets().found.contains("authd.sock is not a socket"))
        withExtendedLifetime(listeners) {}
    }

    @Test(.needs(.root)) func socketsAndPublicFolderMayBelongToTheUserOfTheService() throws {
        let listeners = try machine.listen()
        for path in [machine.places.sockets.publicFolder, machine.places.sockets.keychain] {
            try #require(chown(path, 990, 0) == 0)
        }
        #expect(sockets().state == .attention)
        #expect(sockets(storeUser: 990).state == .ok)
        withExtendedLifetime(listeners) {}
    }

    @Test(.needs(.root)) func folderOfAnotherUserIsReturnedToRoot() throws {
        let listeners = try machine.listen()
        try #require(chown(machine.root + "/run/latchkey", 990, 0) == 0)
        #expect(sockets(storeUser: 990).found.contains("/run/latchkey belongs to user 990"))
        try sockets().mend()
        #expect(sockets(storeUser: 990).state == .ok)
        withExtendedLifetime(listeners) {}
    }

    @Test func missingConfigurationOfServicesIsWritten() throws {
        let listeners = try machine.listen()
        #expect(configuration.state == .attention)
        try configuration.mend()
        #expect(configuration.state == .ok, "\(configuration)")
        let text = try #require(try Files.read(machine.places.configuration, limit: 100))
        #expect(String(decoding: text.copyBytes(), as: UTF8.self) == "tier = file\n")
        withExtendedLifetime(listeners) {}
    }

    @Test(arguments: ["/etc/latchkey/latchkeyd.conf", "/etc/latchkey", "/etc"])
    func configurationThatOthersCanChangeIsMended(path: String) throws {
        try machine.write("/etc/latchkey/latchkeyd.conf", "tier = file\n")
        #expect(configuration.state == .ok, "\(configuration)")
        try machine.setMode(path, 0o777)
        #expect(configuration.state == .attention && configuration.found.contains(machine.root + path))
        try configuration.mend()
        #expect(configuration.state == .ok, "\(configuration)")
    }
}
