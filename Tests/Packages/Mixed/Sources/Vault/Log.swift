// SPDX-License-Identifier: Apache-2.0

@preconcurrency import Glibc

/// Writes a line at once, also into a pipe. In language mode 6 `stdout` needs the `@preconcurrency` above.
public func log(_ line: String) {
    fputs(line + "\n", stdout)
    fflush(stdout)
}
