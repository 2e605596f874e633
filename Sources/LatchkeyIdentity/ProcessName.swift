// SPDX-License-Identifier: Apache-2.0

package import LatchkeySystem

/// A process as the kernel identifies it: process ids are reused, a process id with its start time is not.
package struct ProcessName: Hashable, Sendable {
    package var processID: Int32
    /// Its start time, in clock ticks since boot (field 22 of `/proc/PID/stat`, proc(5)).
    package var startTime: UInt64
    /// The user id of the peer of a connection, from the kernel.
    package var userID: UInt32

    package init(processID: Int32, startTime: UInt64, userID: UInt32) {
        self.processID = processID
        self.startTime = startTime
        self.userID = userID
    }

    /// The name of the process that a pidfd refers to.
    ///
    /// - Throws: `SystemError`, with ESRCH when the process has ended.
    package init(handle: Descriptor, userID: UInt32) throws(SystemError) {
        let folder = try ProcessFolder(handle: handle)
        self.init(processID: folder.processID, startTime: try folder.record().startTime, userID: userID)
    }
}
