// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

extension ProcessFacts {
    /// Maximum bytes of an environment that are examined.
    package static let environmentBytes = 1 << 20
    /// Time after which an environment is not read on; each read takes what the caller's memory takes.
    private static let environmentNanoseconds: Int64 = 500_000_000
    /// Maximum threads of a process that are examined.
    private static let threadLimit = 1024

    /// Reads the facts of a process.
    ///
    /// Apart from the environment, which is memory of the process, nothing is read that another user can block.
    /// - Parameter reference: a process in the namespaces and with the root folder of the system.
    /// - Throws: `Failure` unless all facts were read of the process with this name, and it has executed no other program
    ///   meanwhile; `IdentificationStep` says which errors are facts.
    package static func read(
        _ name: ProcessName, reference: Int32, _ calls: SystemCalls = .kernel
    ) throws(Failure) -> ProcessFacts {
        let folder = try IdentificationStep.process { () throws(SystemError) in try ProcessFolder(name.processID, calls)
        }
        do throws(Failure) {
            return try read(name, folder, reference, calls)
        } catch {
            // What a process loses with its end gives errors of many kinds: its environment belongs to root then.
            guard error.status == .daemonUnavailable, (try? folder.isRunning()) == false else { throw error }
            throw IdentificationStep.changed()
        }
    }

    private static func read(
        _ name: ProcessName, _ folder: ProcessFolder, _ reference: Int32, _ calls: SystemCalls
    ) throws(Failure) -> ProcessFacts {
        let before = try Fixed(folder)
        guard before.record.startTime == name.startTime,
            // Otherwise an execve(2) is under way, and the environment would seem to be empty.
            before.record.hasEnvironment
        else { throw IdentificationStep.changed() }
        var facts = ProcessFacts(
            userIDs: before.userIDs, executable: before.executable, program: try program(folder, calls),
            isInSystemNamespaces: try sharesNamespaces(folder, reference, calls), isTraced: try isTraced(folder),
            loadsForeignCode: try loadsForeignCode(folder, name.userID), controlGroup: try controlGroup(folder),
            terminal: before.record.terminal,
            ownsTerminal: try ownsTerminal(before.record.terminal, name.userID, calls))
        facts.execution = before.record.execution
        if !facts.isInSystemNamespaces { facts.sandbox = try SandboxStatement(folder, name.userID) }
        // Compared last: neither was the id reused (abuse case 3), nor another program executed between two reads. An entry
        // of a process that has ended is missing like one that the kernel does not have, which this tells apart, too.
        let after = try Fixed(folder)
        let isRunning = try IdentificationStep.process { () throws(SystemError) in try folder.isRunning() }
        guard after == before, isRunning else { throw IdentificationStep.changed() }
        return facts
    }

    /// What does not change while a process executes one program.
    private struct Fixed: Equatable {
        let record: ProcessRecord
        let userIDs: [UInt32]
        let executable: ExecutableFile?

        init(_ folder: ProcessFolder) throws(Failure) {
            record = try IdentificationStep.process { () throws(SystemError) in try folder.record() }
            userIDs = try IdentificationStep.process { () throws(SystemError) in try folder.userIDs() }
            executable = try IdentificationStep.executable.make { () throws(SystemError) in
                try folder.status("exe").file
            }
        }

        static func == (left: Fixed, right: Fixed) -> Bool {
            left.record.startTime == right.record.startTime && left.record.layout == right.record.layout
                && left.record.terminal == right.record.terminal && left.userIDs == right.userIDs
                && left.executable == right.executable
        }
    }

    /// The file at the path of the executable; nil if there is none.
    private static func program(_ folder: ProcessFolder, _ calls: SystemCalls) throws(Failure) -> ProgramFile? {
        let link = try IdentificationStep.executable.make { () throws(SystemError) in try folder.linkTarget("exe") }
        guard let path = link ?? nil else { return nil }
        let mounts = try IdentificationStep.process { () throws(SystemError) in try MountTable(calls) }
        let found = try IdentificationStep.path.make { () throws(SystemError) in
            try PathWalk(path, mounts, calls, isAllowed: ProtectedPath.isProtected)
        }
        guard let walk = found else { return nil }
        var isELF = false
        // Opened only on a protected path, where opening does not block.
        if ProtectedPath.isProtected(walk.components) {
            isELF = try IdentificationStep.start.make { () throws(SystemError) in try walk.isELF() } ?? false
        }
        return ProgramFile(path: path, components: walk.components, isELF: isELF)
    }

    private static func sharesNamespaces(
        _ folder: ProcessFolder, _ reference: Int32, _ calls: SystemCalls
    ) throws(Failure) -> Bool {
        let system = try IdentificationStep.process { () throws(SystemError) in try ProcessFolder(reference, calls) }
        for name in ["ns/user", "ns/mnt", "root"] {
            let its = try IdentificationStep.namespaces.make { () throws(SystemError) in try folder.status(name).file }
            let ours = try IdentificationStep.namespaces.make { () throws(SystemError) in try system.status(name).file }
            guard let its, its == ours else { return false }
        }
        return true
    }

    /// Whether another process traces one of its threads; true for more threads than are examined, since a tracer can
    /// change every instruction.
    private static func isTraced(_ folder: ProcessFolder) throws(Failure) -> Bool {
        let threads = try IdentificationStep.threads.make { () throws(SystemError) in
            try folder.threads(limit: threadLimit)
        }
        guard let threads else { return true }
        for thread in threads {
            let isTraced = try IdentificationStep.thread.make { () throws(SystemError) in
                try folder.isTraced(thread: thread)
            }
            if isTraced == true { return true }
        }
        return false
    }

    /// Whether its environment makes it load foreign code, or is longer than what is examined: the rest could have such a
    /// variable.
    private static func loadsForeignCode(_ folder: ProcessFolder, _ user: UInt32) throws(Failure) -> Bool {
        var scan = CodeVariables.Scan()
        let deadline = Uptime.nanoseconds + environmentNanoseconds
        let isRead: Void? = try IdentificationStep.environment.make { () throws(SystemError) in
            try folder.scan("environ", as: user, limit: environmentBytes, until: deadline) { piece in
                scan.take(piece)
                return !scan.hasFound
            }
        }
        scan.end()
        return isRead == nil || scan.hasFound
    }

    private static func ownsTerminal(_ device: UInt64, _ user: UInt32, _ calls: SystemCalls) throws(Failure) -> Bool {
        try IdentificationStep.terminal.make { () throws(SystemError) in
            try Terminal.exists(device: device, ownedBy: user, calls)
        } ?? false
    }

    fileprivate static func controlGroup(_ folder: ProcessFolder) throws(Failure) -> String? {
        // Without control groups there is neither a unit nor a session.
        let bytes = try IdentificationStep.controlGroup.make { () throws(SystemError) in
            try folder.read("cgroup", limit: 64 << 10)
        }
        let line = bytes?.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "0::".utf8) }
        return line.flatMap { String(validating: $0.dropFirst(3), as: UTF8.self) }
    }
}

extension ControlGroup {
    /// The login session of a process of `user`, as `session(of:)` names it; empty if it has none.
    ///
    /// - Throws: `Failure` if the process has ended or cannot be read now.
    package static func session(
        ofProcess process: Int32, user: UInt32, _ calls: SystemCalls = .kernel
    ) throws(Failure) -> String {
        let folder = try IdentificationStep.process { () throws(SystemError) in try ProcessFolder(process, calls) }
        let owners = try IdentificationStep.process { () throws(SystemError) in try folder.userIDs() }
        let path = try ProcessFacts.controlGroup(folder)
        guard try IdentificationStep.process({ () throws(SystemError) in try folder.isRunning() }) else {
            throw IdentificationStep.changed()
        }
        guard let path, owners.allSatisfy({ $0 == user }) else { return "" }
        return ControlGroup(path)?.session(of: user) ?? ""
    }
}
