// SPDX-License-Identifier: Apache-2.0

import LatchkeyIdentity
import LatchkeySystem
import LatchkeyWords

/// An app that the system installed, as the menu of the desktop shows it.
public struct InstalledApp: Equatable, Sendable {
    /// The name in the menu, in the language of the session.
    public let name: String
    /// The name of its icon; nil if it has none. Look it up in the folders of the system only.
    public let icon: String?
    /// The path of its program.
    public let path: String

    /// Finds the app that a list names. Reads files, and waits for nothing else.
    ///
    /// - Parameters:
    ///   - name: an access group, or the name of a program in the audit log.
    ///   - protection: what protects the keychain. Only the system's services tell the programs of a user apart: otherwise a
    ///     program chooses its name, so it has neither the name nor the icon of an installed one.
    /// - Returns: nil if no installed program has that name, or several, or if the menu does not have it
    ///   (docs/reference/identity.md).
    public init?(named name: String, protection: KeychainOverview.Protection) {
        self.init(named: name, protection: protection, MenuEntries(), folders: InstalledGroups.folders)
    }

    init?(
        named name: String, protection: KeychainOverview.Protection, _ entries: MenuEntries, folders: [String]
    ) {
        switch protection {
        case .user, .simulated: return nil
        case .chip, .services: break
        }
        let isPath = name.hasPrefix("/")
        guard isPath || !name.contains("/") else { return nil }
        // A name that two programs can have says nothing.
        let paths = isPath ? [name] : folders.map { "\($0)/\(name)" }.filter { Files.exists($0) }
        guard paths.count == 1 else { return nil }
        self.init(program: paths[0], entries)
    }

    /// Finds the app of a program that the user has answered. Reads files, and waits for nothing else.
    ///
    /// What protects the keychain does not matter: such an answer is one for a path.
    ///
    /// - Parameter path: the path of the executable.
    /// - Returns: nil if the menu does not have it (docs/reference/identity.md).
    public init?(program path: String) { self.init(program: path, MenuEntries()) }

    init?(program path: String, _ entries: MenuEntries) {
        let languages = LocaleName.languages { Environment.value($0) }
        guard let entry = entries.entry(ofProgram: path, languages: languages) else { return nil }
        (name, icon, self.path) = (entry.name, entry.icon, path)
    }
}
