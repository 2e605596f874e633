// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// The file of a backup, read in pieces.
struct BackupInput {
    private let path: FilePath
    private let file: Descriptor

    init(_ path: FilePath) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            file = try Descriptor.open(path, O_RDONLY)
        } catch {
            guard error.code != ENOENT else { throw Failure(.itemNotFound, "There is no file \(path).") }
            throw Failure(error, "\(path) cannot be read")
        }
    }

    /// Returns at most `most` bytes, and whether the file ends with them.
    func next(_ most: Int) throws(Failure) -> (bytes: [UInt8], isLast: Bool) {
        let bytes = try read(most)
        return (bytes, bytes.count < most)
    }

    /// Goes back to the first byte.
    func rewind() throws(Failure) {
        guard lseek(file.number, 0, SEEK_SET) == 0 else {
            throw Failure(.storeUnreadable, "\(path) cannot be read twice.", hint: "Copy it to a file first.")
        }
    }

    /// Reads `count` bytes; fewer only at the end of the file.
    private func read(_ count: Int) throws(Failure) -> [UInt8] {
        var filled = 0
        let bytes: SecretBytes
        do throws(SystemError) {
            bytes = try SecretBytes(count: count) { (memory) throws(SystemError) in
                while filled < count {
                    let step = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[filled...]))
                    guard step > 0 else { break }
                    filled += step
                }
            }
        } catch {
            throw Failure(error, "\(path) cannot be read")
        }
        return Array(bytes.copyBytes()[..<filled])
    }
}
