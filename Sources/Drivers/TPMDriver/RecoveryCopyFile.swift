// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The file `recovery` in the folder of a store: a copy of latchkey-authd's records of the recovery codes, behind a header
/// that names its format. It has no authentication code, because latchkey-authd authenticates the records with the
/// recovery code.
struct RecoveryCopyFile: Sendable {
    let path: String

    private static let mark = FileMark.recoveryCopy.bytes

    /// Returns the bytes; empty without a file. Throws `storeUnreadable` for a file of another form or one that cannot be
    /// read.
    func read() throws(Failure) -> [UInt8] {
        let stored: SecretBytes?
        do throws(SystemError) {
            stored = try Files.read(path, limit: Self.mark.count + Limits.recoveryCopyBytes)
        } catch {
            throw Failure(
                .storeUnreadable, "\(path) cannot be read: \(String(cString: strerror(error.code))).",
                hint: "Make it a readable file of the keychain's owner, or restore it from a backup.", cause: error)
        }
        guard let bytes = stored?.copyBytes() else { return [] }
        guard !bytes.isEmpty else {
            throw Failure(.storeUnreadable, "\(path) is empty.", hint: "Restore it from a backup.")
        }
        guard bytes.starts(with: Self.mark) else {
            guard bytes.starts(with: Self.family) else {
                throw Failure(
                    .storeUnreadable, "\(path) was changed by another program.", hint: "Restore it from a backup.")
            }
            throw Failure(
                .storeUnreadable, "\(path) is of a version that this Latchkey does not read.",
                hint: "Install the newest version of Latchkey, or restore the file from a backup.")
        }
        return Array(bytes[Self.mark.count...])
    }

    /// The header without its version.
    private static let family = mark.dropLast(2)

    /// Replaces the bytes; durable on return.
    func replace(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.count <= Limits.recoveryCopyBytes else {
            throw Failure(.invalidParameter, "The records of the recovery codes are too large.")
        }
        do throws(SystemError) {
            try Files.replace(path, with: SecretBytes(Self.mark + bytes))
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }
}
