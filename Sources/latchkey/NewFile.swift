// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// A file that has its name only once it is whole and on the disk.
final class NewFile {
    private let path: String
    private let partial: String
    private let file: Descriptor
    private var isFinished = false

    init(_ path: String) throws(Failure) {
        self.path = path
        partial = path + ".partial"
        // A file that is there may be open to others.
        Files.remove(partial)
        do throws(SystemError) {
            file = try Descriptor.open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode: 0o600)
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }

    deinit { if !isFinished { Files.remove(partial) } }

    func write(_ bytes: [UInt8]) throws(Failure) { try write(SecretBytes(bytes)) }

    func write(_ bytes: SecretBytes) throws(Failure) {
        do throws(SystemError) {
            try bytes.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }

    func finish() throws(Failure) {
        do throws(SystemError) {
            try file.synchronize()
            try Files.rename(partial, to: path)
            isFinished = true
            try Files.synchronizeFolder(of: path)
        } catch {
            throw Failure(error, "\(path) cannot be written")
        }
    }
}
