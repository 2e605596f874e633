// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Locates the program `latchkeyd`.
package enum DaemonProgram {
    /// The path in `LATCHKEY_DAEMON`, or the first place of `ProgramSearch` that has the program.
    package static func find() throws(Failure) -> String {
        try ProgramSearch("latchkeyd", variable: "LATCHKEY_DAEMON").find(
            hint: "Install it with: make install PREFIX=~/.local. "
                + "For an installation in another prefix, add the bin folder of the prefix to PATH.")
    }
}
