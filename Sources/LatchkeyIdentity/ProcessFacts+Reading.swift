// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem

extension ProcessFacts {
    /// Maximum bytes of an environment that are read.
    private static let environmentLimit = 1 << 20

    /// Reads the facts of a process; nil unless all of them were read of the process with this name, and it has
    /// executed no other program meanwhile.
    ///
    /// Reads nothing that another user can block.
    /// - Parameter reference: a process in the namespaces and with the root folder of the system.
    package static func read(_ name: ProcessName, reference: Int32) -> ProcessFacts? {
        // The error does not matter: what cannot be read is undetermined.
        guard let folder = try? ProcessFolder(name.processID), let before = try? Fixed(folder),
            before.record.startTime == name.startTime, before.userIDs.first == name.userID,
            // Otherwise an execve(2) is under way, and the environment would seem to be empty.
            before.record.hasEnvironment
        else { return nil }
        let facts = ProcessFacts(
            userIDs: before.userIDs, executable: before.executable, program: program(folder),
            isInSystemNamespaces: sharesNamespaces(folder, reference),
            // Unknown counts as traced: a tracer can change every instruction.
            isTraced: (try? folder.isTraced()) ?? true,
            variables: variables(folder, name.userID), controlGroup: controlGroup(folder),
            terminal: before.record.terminal,
            ownsTerminal: Terminal.exists(device: before.record.terminal, ownedBy: name.userID))
        // Compared last: neither was the id reused (abuse case 3), nor another program executed between two reads.
        // Unreadable now means changed.
        guard let after = try? Fixed(folder), after == before, folder.isRunning else { return nil }
        return facts
    }

    /// What does not change while a process executes one program.
    private struct Fixed: Equatable {
        let record: ProcessRecord
        let userIDs: [UInt32]
        let executable: ExecutableFile?

        init(_ folder: ProcessFolder) throws(SystemError) {
            record = try folder.record()
            userIDs = try folder.userIDs()
            // Nil for a process of the kernel and for one whose first thread has ended.
            executable = try? folder.status("exe").file
        }

        static func == (left: Fixed, right: Fixed) -> Bool {
            left.record.startTime == right.record.startTime && left.record.layout == right.record.layout
                && left.record.terminal == right.record.terminal && left.userIDs == right.userIDs
                && left.executable == right.executable
        }
    }

    /// The file at the path of the executable; nil where it cannot be found.
    private static func program(_ folder: ProcessFolder) -> ProgramFile? {
        // A path that leads nowhere, for instance of a deleted file, determines nothing.
        guard let path = (try? folder.linkTarget("exe")) ?? nil, let mounts = try? MountTable(),
            let walk = try? PathWalk(path, mounts, isAllowed: ProtectedPath.isProtected)
        else { return nil }
        var isELF = false
        // Opened only on a protected path, where opening does not block.
        if ProtectedPath.isProtected(walk.components), let file = try? walk.open() {
            var start = [UInt8](repeating: 0, count: 4)
            // An unreadable file is not known to be ELF.
            let count = (try? start.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
            isELF = count == 4 && start == [0x7f, 0x45, 0x4c, 0x46]
        }
        return ProgramFile(path: path, components: walk.components, isELF: isELF)
    }

    private static func sharesNamespaces(_ folder: ProcessFolder, _ reference: Int32) -> Bool {
        // Unreadable namespaces count as different.
        guard let system = try? ProcessFolder(reference) else { return false }
        return ["ns/user", "ns/mnt", "root"].allSatisfy { name in
            guard let ours = try? system.status(name).file, let its = try? folder.status(name).file else {
                return false
            }
            return ours == its
        }
    }

    private static func variables(_ folder: ProcessFolder, _ user: UInt32) -> [String]? {
        // A longer environment is undetermined, not cut: the rest could contain a variable that counts.
        guard let bytes = try? folder.read("environ", as: user, limit: environmentLimit) else { return nil }
        return bytes.split(separator: 0).map { entry in
            String(decoding: entry.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        }
    }

    fileprivate static func controlGroup(_ folder: ProcessFolder) -> String? {
        // Without control groups there is neither a unit nor a session.
        guard let bytes = try? folder.read("cgroup", limit: 64 << 10) else { return nil }
        let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "0::".utf8) }
        return line.flatMap { String(validating: $0.dropFirst(3), as: UTF8.self) }
    }
}

extension ControlGroup {
    /// The login session of a process of `user`, as `session(of:)` names it; empty if it has none or has ended.
    package static func session(ofProcess process: Int32, user: UInt32) -> String {
        // A process that cannot be read has no session, so that biometry is refused.
        guard let folder = try? ProcessFolder(process), let owners = try? folder.userIDs(),
            owners.allSatisfy({ $0 == user }), let path = ProcessFacts.controlGroup(folder), folder.isRunning
        else { return "" }
        return ControlGroup(path)?.session(of: user) ?? ""
    }
}
