// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

extension PAMServiceFile {
    private static let hint: Phrase = "See: latchkey doctor"

    /// Throws unless the file decides alone what PAM does, and only its owner can change it.
    ///
    /// An include may bring in modules that accept something else than a password, such as a finger, and libpam takes
    /// the lines of a missing type from the service `other`.
    ///
    /// - Throws: `peerNotTrusted` for a file that others can change, or that leaves the decision to others.
    /// - Parameter owner: the user to whom the file must belong: root, except in tests.
    static func check(_ path: String, owner: UInt32 = 0) throws(Failure) {
        let text: String
        do throws(SystemError) {
            let file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            let status = try file.status()
            guard status.isType(S_IFREG), status.owner == owner, status.mode & 0o022 == 0 else {
                throw SystemError("open", code: EPERM)
            }
            guard let bytes = try Files.read(path, limit: byteLimit) else { throw SystemError("open", code: ENOENT) }
            text = bytes.withBytes { String(decoding: $0, as: UTF8.self) }
        } catch {
            let missing = Failure(error, "\(path) cannot be used: it must be a file that only root can change")
            guard [EPERM, ELOOP].contains(error.code) else { throw missing }
            throw Failure(.peerNotTrusted, missing.message, hint: hint)
        }
        if let flaw = flaw(of: text) {
            throw Failure(.peerNotTrusted, "\(path) cannot be used: \(flaw).", hint: hint)
        }
    }
}
