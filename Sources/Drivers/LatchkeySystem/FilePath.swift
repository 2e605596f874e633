// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// The path of a file as the kernel has it: bytes of any encoding. Repaired to text, it would name another file.
///
/// Its description is for messages: what is not UTF-8 is escaped there.
package struct FilePath: Equatable, Sendable, CustomStringConvertible {
    /// The bytes, without a zero byte at the end.
    package let bytes: [UInt8]

    /// The path of these bytes. Every system call fails with EINVAL if one of them is zero.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// The path of the UTF-8 of a text.
    package init(_ text: String) { bytes = Array(text.utf8) }

    package var description: String { String(showing: bytes) }

    /// The path as text; nil if it is not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The path before its last slash; "." when it has none.
    package var folder: FilePath {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return FilePath(".") }
        return slash == 0 ? FilePath("/") : FilePath(bytes: Array(bytes[..<slash]))
    }

    package func appending(_ suffix: String) -> FilePath { FilePath(bytes: bytes + suffix.utf8) }

    /// The result of a system call that takes the path; -1 with EINVAL if the kernel would see only a part of it.
    func call(_ body: (UnsafePointer<CChar>) -> CInt) -> CInt {
        guard !bytes.contains(0) else {
            errno = EINVAL
            return -1
        }
        return body(bytes.map { CChar(bitPattern: $0) } + [0])
    }
}
