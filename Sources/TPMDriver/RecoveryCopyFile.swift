// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem

/// The file `recovery` in the folder of a store: a copy of latchkey-authd's records of the recovery codes, behind a header
/// that names its format. It has no authentication code, because latchkey-authd authenticates the records with the
/// recovery code.
struct RecoveryCopyFile: Sendable {
    let path: String

    private static let mark = FileMark.recoveryCopy.bytes

    /// Returns the bytes; empty without a file. Throws `storeUnreadable` for a file of another form.
    func read() throws(Failure) -> [UInt8] {
        let stored: SecretBytes?
        do throws(SystemError) {
            stored = try Files.read(path, limit: Self.mark.count + Limits.recoveryCopyBytes)
        } catch {
            throw Failure(error, "\(path) cannot be read")
        }
        guard let bytes = stored?.copyBytes() else { return [] }
        guard bytes.starts(with: Self.mark) else {
            throw Failure(
                .storeUnreadable, "\(path) was changed by another program, or is of another version.",
                hint: "latchkey-authd makes it again while it has its own files.")
        }
        return Array(bytes[Self.mark.count...])
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
