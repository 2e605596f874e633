// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// The file in which root gives the services the password of the owner hierarchy of the TPM: `owner_auth_file` in
/// `latchkeyd.conf`.
package enum OwnerPasswordFile {
    /// Bytes of the longest password of a hierarchy: a digest of SHA-512.
    private static let passwordBytes = 64

    /// Reads the password, without a line break at its end.
    ///
    /// - Parameters:
    ///   - group: the group that may read the file besides root's.
    ///   - owner: a user that may own it besides root, for tests.
    /// - Throws: `peerNotTrusted` if others than root can change the file, or others than root and the group can read it;
    ///   `invalidParameter` if it is missing or contains no password.
    package static func read(_ path: String, group: UInt32, orOf owner: UInt32 = 0) throws(Failure) -> SecretBytes {
        try ConfigurationFile.checkOwner(of: path, orOf: owner)
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw Failure(
                .invalidParameter, "\(path) does not exist, and the configuration names it as the owner_auth_file.",
                hint: "Write the password of the owner hierarchy into it, or remove the line.")
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o007 == 0, [0, group].contains(status.st_gid)
        else {
            throw Failure(
                .peerNotTrusted,
                "\(path) has the password of the TPM's owner, and others than the services can read it.",
                hint: "Run as root: chown root:latchkey \(path); chmod 640 \(path)")
        }
        let bytes: SecretBytes?
        do throws(SystemError) {
            bytes = try Files.read(path, limit: passwordBytes + 1)
        } catch {
            throw Failure(error, "The owner_auth_file \(path) cannot be read")
        }
        guard let bytes, let password = password(in: bytes) else {
            throw Failure(
                .invalidParameter, "\(path) has no password of 1 to \(passwordBytes) bytes in one line.",
                hint: "Write the password of the owner hierarchy into it.")
        }
        return password
    }

    private static func password(in bytes: SecretBytes) -> SecretBytes? {
        bytes.withBytes { bytes in
            let line = bytes.last == 0x0a ? bytes.dropLast() : bytes[...]
            // The TPM ignores zeros at the end of a password; a line break within it is an error of typing.
            guard (1...passwordBytes).contains(line.count), !line.contains(0x0a), line.last != 0 else { return nil }
            return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line))
        }
    }
}
