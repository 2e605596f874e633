// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem

/// The log of the user's daemon, read from its file, so that it is available when no daemon runs.
package enum DaemonLog {
    /// Every stored line, oldest first.
    package static func lines() throws(Failure) -> [DaemonLogLine] { try lines(in: StoreLocation.folder()) }

    private static func lines(in folder: String) throws(Failure) -> [DaemonLogLine] {
        guard Files.exists(folder) else { return [] }
        try Files.checkPrivateFolder(folder)
        do throws(SystemError) {
            return try DaemonLogFile.read(folder)
        } catch {
            throw Failure(error, "\(folder)/\(DaemonLogFile.fileName) cannot be read")
        }
    }

    /// Why the daemon of a store ended that was started last: the reason that it has logged. nil if it logged none, or if the
    /// log cannot be read.
    ///
    /// - Parameter time: the earliest time of that, in microseconds since 1970-01-01 UTC.
    static func failure(in folder: String, since time: Int64 = 0) -> Failure? {
        guard let line = try? lines(in: folder).last, line.event == DaemonEvent.failed.rawValue, line.time >= time
        else {
            return nil
        }
        return Failure(.daemonUnavailable, line.message, hint: line.hint)
    }
}
