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
            throw Failure(error, "\(path) cannot be read")
        }
    }

    /// Exactly that many bytes.
    func read(_ count: Int) throws(Failure) -> [UInt8] {
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
        guard filled == count else {
            throw Failure(
                .storeUnreadable, "\(path) ends too early.",
                hint: "What was read so far was imported. Try another copy of the file.")
        }
        return bytes.copyBytes()
    }
}

/// How far long work is, for a person at a terminal.
struct Progress {
    private let word: String
    private let isShown = isatty(STDERR_FILENO) == 1
    private(set) var count = 0
    private var shown = 0

    init(_ word: String) { self.word = word }

    mutating func add(_ more: Int) {
        count += more
        guard isShown, count - shown >= 100 else { return }
        shown = count
        Output.writeError("\r\(count) items \(word)")
    }

    /// Clears the line.
    func end() { if isShown, shown > 0 { Output.writeError("\r\u{1b}[K") } }
}
