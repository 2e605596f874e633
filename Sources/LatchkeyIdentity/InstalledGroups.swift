// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem

/// Determines the access groups that items of a user's own store get in the system's keychain.
///
/// In tier `user` a program names its group itself; in the system's keychain a group is the path of a program, a
/// declared name, or the group of all programs of a user that cannot be determined.
///
/// What could not be examined is an error and never that common group: every program of the user that has no identity of its
/// own reads the items there, and the program to which they belong does not find them.
package struct InstalledGroups: Sendable {
    /// Where a program is looked for that has the name of a group, in this order.
    package static let folders = ["/usr/bin", "/usr/local/bin", "/usr/libexec"]

    /// The declarations of the system, for a process in a mount namespace of its own.
    package static var declarationFolder: DeclarationFolder {
        DeclarationFolder(isProtected: { ProtectedPath.belongsToRoot($0) })
    }

    private let declarations: DeclarationFolder
    private let folders: [String]
    private let checkDeclarations: @Sendable () throws(SystemError) -> Void
    private let isProgram: @Sendable (_ path: String) throws(SystemError) -> Bool

    /// Creates a mapping.
    ///
    /// - Parameters:
    ///   - declarations: the folder of app declarations.
    ///   - folders: where programs are looked for.
    ///   - isProgram: whether the file at a path would be the identity of the program that executes it.
    ///   - checkDeclarations: throws when this process cannot read the folder of the declarations, which counts as empty
    ///     then.
    package init(
        declarations: DeclarationFolder = InstalledGroups.declarationFolder,
        folders: [String] = InstalledGroups.folders,
        isProgram: @escaping @Sendable (_ path: String) throws(SystemError) -> Bool = { path throws(SystemError) in
            try InstalledProgram.exists(at: path)
        },
        checkDeclarations: @escaping @Sendable () throws(SystemError) -> Void = { () throws(SystemError) in
            try InstalledGroups.checkFolder(DeclarationFolder.system)
        }
    ) {
        self.declarations = declarations
        self.folders = folders
        self.checkDeclarations = checkDeclarations
        self.isProgram = isProgram
    }

    /// Returns the access group for a group of the user's own store.
    ///
    /// - Parameters:
    ///   - group: the name that a program gave itself; any text.
    ///   - userID: the user of both keychains.
    /// - Throws: `daemonUnavailable` if this process could not examine what decides.
    package func target(of group: String, userID: UInt32) throws(Failure) -> String {
        let undetermined = "user:\(userID)"
        // A name of this form would be the group of a program that the item never belonged to.
        guard !AppDeclaration.isReserved(group) else { return undetermined }
        do throws(SystemError) { try checkDeclarations() } catch {
            let reason = error.description
            throw Failure(
                .daemonUnavailable,
                "The app declarations of this system cannot be read, so no access group can be determined: \(reason).",
                hint:
                    "Try again. If it happens again, allow latchkeyd to read it; the kernel's log names what AppArmor "
                    + "forbids.", cause: error)
        }
        let declared = declarations.declarations
        if declared.declaresGroup(group) { return group }
        guard Self.isFileName(group) else { return undetermined }
        for folder in folders {
            let path = folder + "/" + group
            do throws(SystemError) {
                guard try isProgram(path) else { continue }
            } catch {
                let reason = error.description
                throw Failure(
                    .daemonUnavailable,
                    "\(path) cannot be examined, so the access group of its items cannot be determined: \(reason).",
                    hint:
                        "Try again. If it happens again, allow latchkeyd to read it; the kernel's log names what AppArmor "
                        + "forbids.", cause: error)
            }
            // Programs of a declaration have the groups of the declaration instead of their path.
            return declared.declaration(ofProgram: path)?.name ?? path
        }
        return undetermined
    }

    /// Throws unless the folder can be listed, or does not exist, or is one that `DeclarationFolder` refuses as a whole.
    package static func checkFolder(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            let walk = try PathWalk(path, MountTable([]), isAllowed: ProtectedPath.belongsToRoot)
            guard walk.components.allSatisfy(ProtectedPath.belongsToRoot) else { return }
            _ = try walk.file.names(limit: DeclarationFolder.fileLimit)
        } catch {
            guard [ENOENT, ENOTDIR, EFBIG].contains(error.code) else { throw error }
        }
    }

    /// Whether a group can be the name of a file in one of the folders.
    private static func isFileName(_ group: String) -> Bool {
        !group.isEmpty && group != "." && group != ".." && group.utf8.count <= 200
            && group.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") }
    }
}

/// The file of a program, without a process that executes it.
package enum InstalledProgram {
    /// Whether a process that executes the file can have its path as identity: only root can change the file, it is an
    /// ELF file, and it is not known to execute code of the user.
    ///
    /// Mounts are not examined: a service manager may give this process a mount namespace with options of its own.
    /// `latchkey-authd` examines them when a program connects.
    ///
    /// - Throws: `SystemError` when this process could not examine the file. That nothing is there is no error.
    package static func exists(at path: String) throws(SystemError) -> Bool {
        guard path.utf8.count <= Limits.applicationBytes, !Interpreters.contains(Files.name(of: path)) else {
            return false
        }
        do throws(SystemError) {
            let walk = try PathWalk(path, MountTable([]), isAllowed: ProtectedPath.belongsToRoot)
            guard ProtectedPath.isProtected(walk.components, by: ProtectedPath.belongsToRoot) else { return false }
            return try walk.open().read(atMost: 4) == [0x7f, 0x45, 0x4c, 0x46]
        } catch {
            guard [ENOENT, ENOTDIR].contains(error.code) else { throw error }
            return false
        }
    }
}
