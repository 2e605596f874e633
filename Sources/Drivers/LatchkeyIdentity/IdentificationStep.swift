// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The steps of an identification, and the only table of the errors that say something about the program.
///
/// «Looked, and it is nothing special» gives the identity of the user; «could not look» is an error of the caller's
/// request. If a service without a free descriptor took the second for the first, a program would get the access group
/// that all undetermined programs of its user share. So every error is an error, unless it is in this table.
enum IdentificationStep: CaseIterable, Sendable {
    /// Record, user ids and pidfd of the process, and of the process in the namespaces of the system.
    case process
    /// The file that the process executes.
    case executable
    /// The path of that file, looked up component by component.
    case path
    /// Its first bytes.
    case start
    /// User namespace, mount namespace and root folder.
    case namespaces
    /// The list of threads.
    case threads
    /// The state of one thread.
    case thread
    case environment
    case controlGroup
    /// The device of the controlling terminal.
    case terminal
    /// The folder of declarations, looked up component by component, and its names.
    case declarations
    /// A file of that folder.
    case declaration
    /// The mounts of a process whose root folder is not that of the system.
    case sandboxMounts
    /// The description of a sandbox in that folder.
    case sandbox
    /// What the description is, and has.
    case sandboxContent
    /// The AppArmor label.
    case confinement
    /// A program of a folder of the system, without a process that executes it.
    case installedProgram

    /// The errors that are facts: the name of the call and its code.
    private var facts: [(call: String, codes: Set<CInt>)] {
        switch self {
        case .process: []
        // A process without an executable: one of the kernel.
        case .executable: [("openat", [ENOENT]), ("readlinkat", [ENOENT, ENAMETOOLONG])]
        // A path that leads nowhere in this mount namespace, as of a deleted file; EINVAL is of a path such as
        // "pipe:[1]". EACCES: the service may not enter a folder, for instance because of ProtectHome= or AppArmor. No
        // user decides that for a path that only root can change, which is the only one that would give an identity.
        case .path:
            [("openat", [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL, EACCES]), ("statx", [EACCES])]
        case .start: [("openat", [EACCES])]
        // A kernel without this kind of namespace.
        case .namespaces: [("openat", [ENOENT])]
        // More threads than are examined.
        case .threads: [("readdir", [EFBIG])]
        // The thread has ended since the list was read.
        case .thread: [("openat", [ENOENT]), ("read", [ESRCH])]
        // More bytes than are examined.
        case .environment: [("read", [EFBIG])]
        // A kernel without control groups.
        case .controlGroup: [("openat", [ENOENT])]
        // A terminal of another mount namespace, or one that is gone.
        case .terminal: [("lstat", [ENOENT, ENOTDIR])]
        case .declarations:
            [
                ("openat", [ENOENT, ENOTDIR, ELOOP]), ("readdir", [EFBIG]), ("statx", [EACCES]),
                ("lstat", [ENOENT, ENOTDIR]),
            ]
        // What the file is: gone, a link, a socket or a device, unreadable for the service, too long.
        case .declaration:
            [("openat", [ENOENT, ELOOP, ENXIO, ENODEV, EACCES]), ("read", [EFBIG, ENOTSUP])]
        // More mounts than are examined.
        case .sandboxMounts: [("read", [EFBIG])]
        // EACCES: a root folder that its user may not search, in which no program could be executed.
        case .sandbox: [("openat", [ENOENT, EACCES])]
        // No regular file, none that the user may open, more than is examined, or one of FUSE, which root may not examine.
        case .sandboxContent: [("statx", [EACCES]), ("openat", [EACCES]), ("read", [EFBIG, ENOTSUP])]
        // A kernel without AppArmor; EINVAL where it is not active.
        case .confinement: [("openat", [ENOENT]), ("read", [EINVAL])]
        case .installedProgram: [("openat", [ENOENT, ENOTDIR, ELOOP])]
        }
    }

    /// Whether an error of this step is a property of what was examined.
    func isFact(_ error: SystemError) -> Bool {
        facts.contains { $0.call == error.call && $0.codes.contains(error.code) }
    }

    /// Makes a step; nil if it fails with an error that is a fact.
    func make<R>(_ body: () throws(SystemError) -> R) throws(Failure) -> R? {
        do throws(SystemError) {
            return try body()
        } catch {
            guard !isFact(error) else { return nil }
            throw Self.failure(error)
        }
    }

    /// Makes a step none of whose errors is a fact.
    static func process<R>(_ body: () throws(SystemError) -> R) throws(Failure) -> R {
        do throws(SystemError) { return try body() } catch { throw failure(error) }
    }

    static func failure(_ error: SystemError) -> Failure {
        // An entry that every process has is missing: the process has ended.
        guard error.code != ESRCH, error.code != ENOENT else { return changed(error) }
        return Failure(
            .daemonUnavailable, "The calling program cannot be identified now: \(error.description).",
            hint: "Try again. If it fails again, see: journalctl -u latchkey-authd", cause: error)
    }

    /// A process that has ended, has become another one, or has executed another program meanwhile.
    static func changed(_ cause: SystemError? = nil) -> Failure {
        Failure(
            .peerNotTrusted,
            "The calling process ended, or executed another program, while it was identified.",
            hint: "Run the program again.", cause: cause)
    }
}
