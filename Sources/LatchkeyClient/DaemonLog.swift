// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport

/// The log of the user's daemon, read from its file, so that it is available when no daemon runs.
package enum DaemonLog {
    /// Every stored line, oldest first.
    package static func lines() throws(Failure) -> [DaemonLogLine] {
        let folder = try StoreLocation.folder()
        guard Files.exists(folder) else { return [] }
        try Files.checkPrivateFolder(folder)
        do throws(SystemError) {
            return try DaemonLogFile.read(folder)
        } catch {
            throw Failure(error, "\(folder)/\(DaemonLogFile.fileName) cannot be read")
        }
    }
}
