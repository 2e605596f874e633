// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The removal of the folders that latchkeyd and latchkey-authd have for a user, while neither of them runs.
struct UserRemoval {
    /// The folder in which a service has a folder for each user.
    private struct Place {
        var service: String
        var folder: String
        var owner: UInt32
        /// The files of a user's folder that hold keys or verifiers, and what a crash left of their replacements.
        var secrets: [String]
    }

    /// The units that start the services with a connection.
    static let sockets = "latchkeyd.socket latchkey-authd.socket latchkey-agents.socket"

    let userID: UInt32
    private let places: [Place]
    private let indices: UserIndices
    /// The folder of latchkey-authd, whose log records the removal. Only root can write to it; in the folder of
    /// latchkeyd a log of root could be replaced by that service.
    private let logFolder: String

    /// - Parameters:
    ///   - storeOwner: the user as whom latchkeyd runs.
    ///   - authorityOwner: the user as whom latchkey-authd runs.
    init(
        _ userID: UInt32, storeOwner: UInt32, authorityOwner: UInt32 = 0, stores: String = "/var/lib/latchkey",
        authorities: String = "/var/lib/latchkey-authd", tpm: UserIndices.Places = UserIndices.Places()
    ) {
        self.userID = userID
        indices = UserIndices(userID: userID, authority: "\(authorities)/\(userID)", places: tpm)
        logFolder = authorities
        places = [
            // The root key first: without it, nothing else of the user can be decrypted.
            Place(
                service: "latchkeyd", folder: stores, owner: storeOwner,
                secrets: ["root.key", "root.key.new", "anchor", "anchor.new"]),
            Place(
                service: "latchkey-authd", folder: authorities, owner: authorityOwner,
                secrets: ["passcodes", "passcodes.new"]),
        ]
    }

    /// Throws the failure with which `run` would refuse now; changes nothing.
    func check() throws(Failure) {
        _ = try locks()
        _ = try folders()
    }

    /// Removes the folders of the user, and what the TPM has. The services can start again afterwards.
    ///
    /// - Returns: what could not be removed from the TPM, and why.
    @discardableResult
    func run() throws(Failure) -> [Failure] {
        // Held until the end: a service that starts meanwhile waits.
        let locks = try locks()
        defer { withExtendedLifetime(locks) {} }
        // Both are checked before one is changed.
        let folders = try folders()
        try log()
        // First: the records of the folder name the indices. After a crash the same command removes the rest.
        let remaining = indices.remove()
        for (folder, secrets) in folders { try folder.remove(erasing: secrets) }
        return remaining
    }

    private func folders() throws(Failure) -> [(FolderRemoval, [String])] {
        var folders: [(FolderRemoval, [String])] = []
        for place in places {
            if let folder = try FolderRemoval("\(userID)", in: place.folder, owner: place.owner) {
                folders.append((folder, place.secrets))
            }
        }
        guard !folders.isEmpty else {
            throw Failure(.itemNotFound, "User \(userID) has no keychain in \(places[0].folder).")
        }
        return folders
    }

    private func locks() throws(Failure) -> [FolderLock] {
        var locks: [FolderLock] = []
        for place in places where Files.exists(place.folder) {
            let lock: FolderLock?
            do throws(SystemError) {
                lock = try FolderLock.takeAlone(place.folder)
            } catch {
                throw Failure(.storeReadOnly, "\(place.folder) cannot be locked: \(error.description).", cause: error)
            }
            guard let lock else {
                throw Failure(
                    .storeReadOnly, "\(place.service) is running.",
                    hint: "Run: systemctl stop \(Self.sockets) latchkeyd.service latchkey-authd.service")
            }
            locks.append(lock)
            try lockFolder(of: place).map { locks.append($0) }
        }
        return locks
    }

    /// The lock of the user's folder, which a process of the user has that did not end with its service.
    private func lockFolder(of place: Place) throws(Failure) -> FolderLock? {
        let path = "\(place.folder)/\(userID)"
        guard Files.exists(path) else { return nil }
        do throws(SystemError) {
            if let lock = try FolderLock.takeAlone(path) { return lock }
        } catch {
            // Something else in place of the folder, which is refused when it is looked at.
            if [ELOOP, ENOTDIR].contains(error.code) { return nil }
            throw Failure(.storeReadOnly, "\(path) cannot be locked: \(error.description).", cause: error)
        }
        throw Failure(
            .storeReadOnly, "A process of \(place.service) still serves user \(userID).",
            hint: "End it, or restart the machine; see: ps -C \(place.service)")
    }

    /// Records the removal before it begins; without the record nothing is removed.
    private func log() throws(Failure) {
        var line = DaemonLogLine(.userRemoved, nil, time: wallTimeMicroseconds(), processID: getpid())
        line.message = "An administrator removes the keychain of user \(userID)."
        try Files.makePrivateFolder(logFolder)
        do throws(SystemError) {
            try DaemonLogFile(logFolder).append(line)
        } catch {
            throw Failure(
                .storeReadOnly,
                "The removal cannot be recorded in \(logFolder)/\(DaemonLogFile.fileName): "
                    + "\(error.description).", hint: "Nothing was removed.", cause: error)
        }
    }
}
