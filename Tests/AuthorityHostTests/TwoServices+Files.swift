// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SystemDriver
import Testing

extension TwoServices {
    /// Changes one byte of the key with which the authority approves uses of keys.
    func damageApprovalKey() throws {
        let file = URL(fileURLWithPath: "\(disk.folder.path)/\(Self.userID)/approval")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: file)
    }

    func authorityFolder() throws -> AuthorityFolder {
        try AuthorityFolder(
            "\(disk.folder.path)/\(Self.userID)", userID: Self.userID, account: #require(AccountName("ada")),
            clock: clock, random: random)
    }

    /// The passcode's records as they are stored.
    func records() throws -> PasscodeRecords { try authorityFolder().passcodeRecords() }

    /// Replaces the stored records of the passcode.
    func persist(_ records: PasscodeRecords) throws { try authorityFolder().persist(records) }
}

extension TwoServices.Disk {
    /// The files of both services, by their path.
    func files() throws -> [String: Data] {
        let root = URL(filePath: folder.path)
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
            let file = root.appending(path: name)
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
            if !isFolder.boolValue { files[name] = try Data(contentsOf: file) }
        }
        return files
    }

    /// Makes the files what they were.
    func restore(_ files: [String: Data]) throws {
        let root = URL(filePath: folder.path)
        for name in try self.files().keys where files[name] == nil {
            try FileManager.default.removeItem(at: root.appending(path: name))
        }
        for (name, data) in files { try data.write(to: root.appending(path: name)) }
    }
}
