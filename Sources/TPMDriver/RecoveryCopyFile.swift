// SPDX-License-Identifier: Apache-2.0

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
            throw unusable(
                Failure(error, "\(path) cannot be read").message + ".",
                "Make it a readable file of the keychain's owner, or", cause: error)
        }
        guard let bytes = stored?.copyBytes() else { return [] }
        guard !bytes.isEmpty else { throw unusable("\(path) is empty.") }
        guard bytes.starts(with: Self.mark) else {
            guard bytes.starts(with: Self.family) else { throw unusable("\(path) was changed by another program.") }
            throw unusable(
                "\(path) is of a version that this Latchkey does not read.",
                "Install the newest version of Latchkey, or")
        }
        return Array(bytes[Self.mark.count...])
    }

    /// The header without its version.
    private static let family = mark.dropLast(2)

    private func unusable(_ message: String, _ first: String = "", cause: SystemError? = nil) -> Failure {
        let restore = "restore it from a backup."
        let hint = first.isEmpty ? "Restore it from a backup." : "\(first) \(restore)"
        return Failure(
            .storeUnreadable, message,
            hint: "\(hint) latchkey-authd makes it again while it has its own files.", cause: cause)
    }

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
