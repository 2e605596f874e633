// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The folder of a user in the folder of a service. The process of the user takes its lock when it needs the folder first, and
/// has it until it ends; `latchkey admin remove-user` takes it as well.
package final class UserFolder: Sendable {
    package let path: String
    private let lock = Mutex<FolderLock?>(nil)

    package init(_ path: String) { self.path = path }

    /// Makes the folder if it does not exist, and takes its lock. Waits for a process of the same user that is ending, for
    /// instance one of an accepting process that has ended. Has no effect after the first time.
    package func take() throws(Failure) {
        try lock.withLock { (lock) throws(Failure) in
            guard lock == nil else { return }
            try Files.makePrivateFolder(path)
            do throws(SystemError) {
                lock = try FolderLock.alone(path)
            } catch {
                throw Failure(error, "\(path) cannot be locked")
            }
        }
    }
}
