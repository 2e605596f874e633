// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A system call that failed: its name and the number the kernel gave.
package struct SystemError: Error, Equatable, Sendable {
    /// The call, as in its manual page.
    package let call: String
    /// The value of errno.
    package let code: CInt

    /// Reads errno; to be made right after the call.
    package init(_ call: StaticString, code: CInt = errno) {
        self.call = call.description
        self.code = code
    }

    /// The kernel's words for the number.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
