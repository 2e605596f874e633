// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// The folder of app declarations. It is read at the first use and again after a change.
package final class DeclarationFolder: Sendable {
    /// Where packages install their declarations.
    package static let system = "/usr/share/latchkey/apps.d"
    /// Maximum files of the folder.
    package static let fileLimit = 1000
    /// Maximum bytes of one file.
    package static let byteLimit = 64 << 10

    private let path: String
    private let isProtected: @Sendable (PathWalk.Component) -> Bool
    private let calls: SystemCalls
    private let state = Mutex(State())

    private struct State: Sendable {
        var stamps: [Stamp]?
        var declarations = AppDeclarations()
    }

    /// What changes when a file is changed or replaced.
    private struct Stamp: Equatable, Sendable {
        let name: String
        let file: ExecutableFile
        let size: Int
        /// Seconds and nanoseconds of the last change of content, owner or mode.
        let changed: [Int]

        init(_ status: FileRecord, _ name: String) {
            self.name = name
            file = status.file
            size = status.size
            changed = status.changed
        }

        /// Whether it is old enough that a later change certainly has another time.
        var isSettled: Bool { Int64(changed[0]) < wallTimeMicroseconds() / 1_000_000 - 1 }
    }

    /// A folder that is read at the first use; it need not exist.
    ///
    /// - Parameters:
    ///   - calls: others than the kernel's only in tests.
    ///   - isProtected: whether only root can change a file or folder.
    package init(
        _ path: String = DeclarationFolder.system, _ calls: SystemCalls = .kernel,
        isProtected: @escaping @Sendable (PathWalk.Component) -> Bool = { ProtectedPath.isProtected($0) }
    ) {
        (self.path, self.calls, self.isProtected) = (path, calls, isProtected)
    }

    /// The declarations as the folder is now.
    ///
    /// - Throws: `Failure` when a file cannot be read now: without it a program could have other access groups.
    package var declarations: AppDeclarations {
        get throws(Failure) {
            try state.withLock { (state) throws(Failure) in
                let known = state.stamps?.map(\.name)
                // The folder itself is the first entry: its time changes with every name in it, so the names are not
                // listed again while it is the same.
                if let known, try stamps(known.dropFirst()) == state.stamps { return state.declarations }
                let (names, declarations) = try read()
                let stamps = try stamps(names[...])
                state.declarations = declarations
                // A change within the same tick of the file system's clock would not be noticed later.
                state.stamps = stamps?.allSatisfy(\.isSettled) == true ? stamps : nil
                return declarations
            }
        }
    }

    /// Nil if one of the files is gone.
    private func stamps(_ names: ArraySlice<String>) throws(Failure) -> [Stamp]? {
        var stamps: [Stamp] = []
        for name in [""] + names {
            let status = try IdentificationStep.declarations.make { () throws(SystemError) in
                try calls.status(at: name.isEmpty ? path : path + "/" + name)
            }
            guard let status else { return nil }
            stamps.append(Stamp(status, name))
        }
        return stamps
    }

    /// Reads all files; a file that is not protected or not valid becomes a problem.
    private func read() throws(Failure) -> (names: [String], AppDeclarations) {
        func refused(_ message: String) -> ([String], AppDeclarations) {
            ([], AppDeclarations(refused: .init(file: path, message: message)))
        }
        let mounts = try IdentificationStep.process { () throws(SystemError) in try MountTable(calls) }
        let (walk, entries): (PathWalk, [FilePath])
        do throws(SystemError) {
            walk = try PathWalk(path, mounts, calls, isAllowed: isProtected)
            guard walk.components.allSatisfy(isProtected) else {
                return refused("The folder or one above it can be changed by other users than root.")
            }
            entries = try calls.names(walk.file, path, limit: Self.fileLimit)
        } catch {
            guard IdentificationStep.declarations.isFact(error) else { throw IdentificationStep.failure(error) }
            // Most machines have no declarations.
            if error.code == ENOENT { return ([], AppDeclarations()) }
            return refused(
                error.code == EFBIG ? "The folder has more than \(Self.fileLimit) files." : Self.message(error))
        }
        var files: [(path: String, content: [UInt8])] = []
        var problems: [AppDeclarations.Problem] = []
        for entry in entries where entry.text == nil {
            problems.append(.init(file: "\(path)/\(entry)", message: "The name of the file is not UTF-8."))
        }
        let names = entries.compactMap(\.text).filter { $0.ends(with: ".conf") && !$0.begins(with: ".") }
        for name in names {
            let file = path + "/" + name
            do throws(SystemError) {
                if let content = try content(name, below: walk, mounts) {
                    files.append((file, content))
                } else {
                    problems.append(.init(file: file, message: "The file can be changed by other users than root."))
                }
            } catch {
                guard IdentificationStep.declaration.isFact(error) else { throw IdentificationStep.failure(error) }
                problems.append(.init(file: file, message: Self.message(error)))
            }
        }
        return (names, AppDeclarations(files: files, problems: problems))
    }

    /// The content of a file; nil if it is not protected.
    private func content(_ name: String, below walk: PathWalk, _ mounts: MountTable) throws(SystemError) -> [UInt8]? {
        // Without O_NONBLOCK a FIFO would block here.
        let file = try calls.open(name, below: walk.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        let status = try calls.status(of: file, name)
        guard status.kind == .regularFile else { throw SystemError("read", code: ENOTSUP) }
        let component = PathWalk.Component(status: status, mount: mounts[status.mount])
        guard ProtectedPath.isProtected(walk.components + [component], by: isProtected) else { return nil }
        return try calls.readAll(file, name, limit: Self.byteLimit)
    }

    private static func message(_ error: SystemError) -> String {
        switch error.code {
        case EFBIG: "The file has more than \(byteLimit) bytes."
        case ELOOP: "The file is a symbolic link."
        case ENOTSUP: "The file is not a regular file."
        default: "The file cannot be read: \(error.description)."
        }
    }
}
