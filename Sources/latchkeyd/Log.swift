// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// Says once, on standard error, what went wrong. Never holds a secret: a failure has none.
func log(_ failure: Failure) {
    let hint = failure.hint.isEmpty ? "" : "\nhint: \(failure.hint)"
    let text = Array("error: \(failure.message)\(hint)\n".utf8)
    _ = write(STDERR_FILENO, text, text.count)
}
