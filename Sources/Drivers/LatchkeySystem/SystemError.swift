// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A failed system call: its name and errno.
package struct SystemError: Error, Equatable, Sendable {
    /// The name of the call, as in its manual page.
    package let call: String
    package let code: CInt

    /// Must be called directly after the failed call, because it reads errno.
    package init(_ call: StaticString, code: CInt = errno) {
        self.call = call.description
        self.code = code
    }

    /// The name of the call and the text of strerror(3).
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
