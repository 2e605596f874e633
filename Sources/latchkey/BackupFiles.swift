// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// A file that is read in pieces.
struct BackupInput {
    private let path: String
    private let file: Descriptor

    init(_ path: String) throws(Failure) {
        self.path = path
        do throws(SystemError) {
            file = try Descriptor.open(path, O_RDONLY | O_CLOEXEC)
        } catch {
            guard error.code != ENOENT else { throw Failure(.itemNotFound, "There is no file \(path).") }
            throw Failure(error, "\(path) cannot be read")
        }
    }

    /// The next bytes, and whether the file ends with them.
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

    /// At most that many bytes; fewer at the end of the file.
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

/// How far long work is, for a person at a terminal.
struct Progress {
    private let word: String
    private let isShown = isatty(STDERR_FILENO) == 1
    private(set) var count = 0
    private var shown = 0

    init(_ word: String) { self.word = word }

    /// So many in all.
    mutating func reach(_ total: Int) {
        count = total
        guard isShown, count - shown >= 100 else { return }
        shown = count
        Output.writeError("\r\(count) items \(word)")
    }

    /// Clears the line.
    func end() { if isShown, shown > 0 { Output.writeError("\r\u{1b}[K") } }
}
