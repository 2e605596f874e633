// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

/// What the sandbox of a process says about the app in it: the file `/.flatpak-info` of its root folder, or its AppArmor label.
///
/// `SandboxedApp` says why that proves nothing. The process may be hostile: whatever it has at these places, reading ends, takes
/// little memory, and opens nothing that its user may not open.
package enum SandboxStatement: Equatable, Sendable {
    /// The process is in no sandbox of these kinds.
    case nothing
    case app(SandboxedApp)
    /// There is a description, and it names no app.
    case malformed

    private static let information = ".flatpak-info"
    private static let informationBytes = 64 << 10
    private static let label = "attr/apparmor/current"
    private static let labelBytes = 4096

    /// Reads what a process says, of whichever user this process may examine.
    ///
    /// - Throws: `Failure` with `peerNotTrusted` if the process is not the one with this start time, or has ended; with
    ///   `daemonUnavailable` if it cannot be read now.
    package init(of process: ProcessName, _ calls: SystemCalls = .kernel) throws(Failure) {
        let folder = try IdentificationStep.process { () throws(SystemError) in
            try ProcessFolder(process.processID, calls)
        }
        let statement = try Self(folder, process.userID)
        // After everything was read: it was all of one process.
        let record = try IdentificationStep.process { () throws(SystemError) in try folder.record() }
        let isRunning = try IdentificationStep.process { () throws(SystemError) in try folder.isRunning() }
        guard record.startTime == process.startTime, isRunning else { throw IdentificationStep.changed() }
        self = statement
    }

    /// Reads what the process says that a folder is of; its start time is compared by the caller.
    init(_ folder: ProcessFolder, _ user: UInt32) throws(Failure) {
        let flatpak = try Self.flatpak(folder, user)
        self = try flatpak == .nothing ? Self.snap(folder) : flatpak
    }

    private static func flatpak(_ folder: ProcessFolder, _ user: UInt32) throws(Failure) -> Self {
        let root = try IdentificationStep.sandboxMounts.make { () throws(SystemError) in try folder.sandboxRoot() }
        // More mounts than are examined.
        guard let root else { return .malformed }
        guard let root else { return .nothing }
        let found = try IdentificationStep.sandbox.make { () throws(SystemError) in
            try root.find(information, as: user)
        }
        guard let found else { return .nothing }
        let bytes = try IdentificationStep.sandboxContent.make { () throws(SystemError) in
            try root.read(found, information, as: user, limit: informationBytes)
        }
        return (bytes.flatMap(flatpakApp)).map { .app($0) } ?? .malformed
    }

    private static func snap(_ folder: ProcessFolder) throws(Failure) -> Self {
        let bytes = try IdentificationStep.confinement.make { () throws(SystemError) in
            try folder.read(label, limit: labelBytes)
        }
        return bytes.map(snapApp) ?? .nothing
    }

    /// The app that a file `/.flatpak-info` names (flatpak-metadata(5)): the one key `name` of the one group `Application`.
    static func flatpakApp(_ bytes: [UInt8]) -> SandboxedApp? {
        var (groups, names) = (0, [ArraySlice<UInt8>]())
        var isInGroup = false
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "[") {
                isInGroup = line.elementsEqual("[Application]".utf8)
                if isInGroup { groups += 1 }
            } else if isInGroup, line.starts(with: "name=".utf8) {
                names.append(line.dropFirst("name=".utf8.count))
            }
        }
        guard groups == 1, names.count == 1 else { return nil }
        return SandboxedApp(.flatpak, names[0])
    }

    /// What an AppArmor label says, such as `snap.editor.editor (enforce)`. All programs of a snap are one app.
    static func snapApp(_ label: [UInt8]) -> Self {
        guard label.starts(with: "snap.".utf8) else { return .nothing }
        let parts = label.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count >= 3, let app = SandboxedApp(.snap, parts[1]) else { return .malformed }
        return .app(app)
    }
}
