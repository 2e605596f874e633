// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How a program ends.
package enum ProgramEnd {
    /// Ends the program at once, whatever its other threads do.
    ///
    /// exit(3), which also follows the end of `main`, first lets libraries free what those threads still use: a thread that
    /// computes with OpenSSL then crashes. Files and streams need no more than this, because nothing here has a buffer of its
    /// own (`StandardStream`).
    package static func now(_ status: CInt = 0) -> Never { _exit(status) }
}
