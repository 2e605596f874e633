// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport

/// What the user's daemon wrote down about itself; read from its file, so that it can be seen when no daemon runs.
package enum DaemonLog {
    /// Every line that is kept, oldest first.
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
