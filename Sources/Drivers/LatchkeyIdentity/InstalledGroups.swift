// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySystem

/// Determines the access groups that items of a user's own store get in the system's keychain.
///
/// In tier `user` a program names its group itself; in the system's keychain a group is the path of a program, a
/// declared name, or the group of all programs of a user that cannot be determined.
package struct InstalledGroups: Sendable {
    /// Where a program is looked for that has the name of a group, in this order.
    package static let folders = ["/usr/bin", "/usr/local/bin", "/usr/libexec"]

    /// The declarations of the system, for a process in a mount namespace of its own.
    package static var declarationFolder: DeclarationFolder {
        DeclarationFolder(isProtected: { ProtectedPath.belongsToRoot($0) })
    }

    private let declarations: DeclarationFolder
    private let folders: [String]
    private let isProgram: @Sendable (_ path: String) throws(Failure) -> Bool

    /// Creates a mapping.
    ///
    /// - Parameters:
    ///   - declarations: the folder of app declarations.
    ///   - folders: where programs are looked for.
    ///   - isProgram: whether the file at a path would be the identity of the program that executes it.
    package init(
        declarations: DeclarationFolder = InstalledGroups.declarationFolder,
        folders: [String] = InstalledGroups.folders,
        isProgram: @escaping @Sendable (_ path: String) throws(Failure) -> Bool = { (path) throws(Failure) in
            try InstalledProgram.exists(at: path)
        }
    ) {
        (self.declarations, self.folders, self.isProgram) = (declarations, folders, isProgram)
    }

    /// Returns the access group for a group of the user's own store.
    ///
    /// - Parameters:
    ///   - group: the name that a program gave itself; any text.
    ///   - userID: the user of both keychains.
    /// - Throws: `Failure` when that cannot be determined now: every program of the user reads the items of the group of
    ///   undetermined programs.
    package func target(of group: String, userID: UInt32) throws(Failure) -> String {
        let undetermined = "user:\(userID)"
        // Items of the Secret Service stay what they are; no program has their group.
        if group.hasBytes(of: SecretService.group) { return group }
        // A name of this form would be the group of a program that the item never belonged to.
        guard !AppDeclaration.isReserved(group) else { return undetermined }
        let declared = try declarations.declarations
        if declared.declaresGroup(group) { return group }
        guard Self.isFileName(group) else { return undetermined }
        for folder in folders {
            let path = folder + "/" + group
            guard try isProgram(path) else { continue }
            // Programs of a declaration have the groups of the declaration instead of their path.
            return declared.declaration(ofProgram: path)?.name ?? path
        }
        return undetermined
    }

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
    /// - Throws: `Failure` when that cannot be determined now.
    package static func exists(at path: String, _ calls: SystemCalls = .kernel) throws(Failure) -> Bool {
        guard path.utf8.count <= Limits.applicationBytes, !Interpreters.contains(Files.name(of: path)) else {
            return false
        }
        let isELF = try IdentificationStep.installedProgram.make { () throws(SystemError) in
            let walk = try PathWalk(path, MountTable([]), calls, isAllowed: ProtectedPath.belongsToRoot)
            guard ProtectedPath.isProtected(walk.components, by: ProtectedPath.belongsToRoot) else { return false }
            return try walk.isELF()
        }
        return isELF ?? false
    }
}
