// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

/// A folder that stands in for the root folder of a machine, whose administrator is the user of the tests.
final class TemporaryMachine: Sendable {
    private let folder: TemporaryFolder
    var root: String { folder.path }
    var places: MachinePlaces {
        MachinePlaces(root: root, userConfiguration: root + "/home/.config", administrator: geteuid())
    }

    init() throws { folder = try TemporaryFolder() }

    /// Makes a file below the root folder, and its folders with mode 0755.
    @discardableResult
    func write(_ path: String, _ text: String = "", mode: mode_t = 0o644) throws -> String {
        let whole = root + path
        for parent in Files.parents(of: whole) where parent.utf8.count > root.utf8.count && mkdir(parent, 0o755) == 0 {
            try #require(chmod(parent, 0o755) == 0)
        }
        if mode & 0o111 != 0 {
            try ScriptFile.write(text, to: whole, mode: mode)
            return whole
        }
        let file = try Descriptor.open(whole, O_WRONLY | O_CREAT | O_TRUNC)
        try Array(text.utf8).withUnsafeBytes { try file.write(all: $0) }
        try #require(fchmod(file.number, mode) == 0)
        return whole
    }

    /// Makes the folders and sockets of the system services.
    func listen() throws -> [Descriptor] {
        try write("/run/latchkey/public/x")
        unlink(root + "/run/latchkey/public/x")
        let sockets = places.sockets
        return [
            try Sockets.listen(sockets.keychain, mode: 0o666), try Sockets.listen(sockets.authority, mode: 0o660),
            try Sockets.listen(sockets.agents, mode: 0o666),
        ]
    }

    func setMode(_ path: String, _ mode: mode_t) throws { try #require(chmod(root + path, mode) == 0) }
}

extension DoctorRow {
    /// Runs the command of the row, which must succeed.
    func mend(_ environment: [String] = ["PATH=/usr/bin:/bin"]) throws {
        let hint = try #require(self.hint)
        let shell = try Processes.spawn(
            "/bin/sh", ["-c", hint.command], environment: environment, descriptors: [nil, nil, nil])
        #expect(Processes.wait(shell) == 0, "\(hint.command)")
    }
}

extension StatusReport {
    /// The status of a daemon without a defect.
    static let sound = StatusReport(
        tier: .user, processID: 7, storePath: "/store", itemCount: 0, biometry: .touchID, isEnrolled: true,
        isPasscodeSet: true, isBiometryLocked: false, accessGroup: "latchkey", problem: nil, enclave: .software)

    /// Returns a copy with one change.
    func with<Value>(_ key: WritableKeyPath<StatusReport, Value>, _ value: Value) -> StatusReport {
        var report = self
        report[keyPath: key] = value
        return report
    }
}
