// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// A process that another one has named, held by a pidfd, so that its number cannot be that of a later process.
package struct NamedProcess: CallerProcess {
    package let name: ProcessName
    /// The device number of its controlling terminal; 0 if it has none.
    package let terminal: UInt64
    private let folder: ProcessFolder
    private let parentNumber: Int32
    /// Its executable as it was opened; nil where only another user may see it.
    private let file: ExecutableFile?

    /// Opens the process.
    ///
    /// - Throws: `peerNotTrusted` if there is none with this start time and this user.
    package init(_ name: ProcessName) throws(Failure) {
        do throws(SystemError) {
            let folder = try ProcessFolder(name.processID)
            let record = try folder.record()
            guard record.startTime == name.startTime, try folder.userIDs().allSatisfy({ $0 == name.userID }),
                try folder.isRunning()
            else { throw SystemError("pidfd_open", code: ESRCH) }
            self.init(name, folder, record)
        } catch {
            throw Failure(
                .peerNotTrusted, "The program that asks has ended, or cannot be determined.", hint: "Try again.")
        }
    }

    private init(_ name: ProcessName, _ folder: ProcessFolder, _ record: ProcessRecord) {
        self.name = name
        self.folder = folder
        terminal = record.terminal
        parentNumber = record.parent
        file = ExecutableFile(of: name.processID)
    }

    package var isUnchanged: Bool {
        // What cannot be read has ended.
        guard file == nil || ExecutableFile(of: name.processID) == file else { return false }
        return (try? folder.isRunning()) ?? false
    }

    /// The path of its executable, which only processes of the same user may read.
    package func executable() throws(Failure) -> String {
        do throws(SystemError) {
            guard let path = try folder.linkTarget("exe"), try folder.isRunning() else {
                throw SystemError("read", code: ESRCH)
            }
            return path
        } catch {
            throw Failure(.peerNotTrusted, "The program that asks cannot be determined.", hint: "Try again.")
        }
    }

    /// The process that started it, of any user; nil if that has ended, or if there is none.
    package func parent() -> NamedProcess? {
        guard parentNumber > 1 else { return nil }
        // What ended meanwhile ends the chain.
        do throws(SystemError) {
            let parent = try ProcessFolder(parentNumber)
            let record = try parent.record()
            let user = try parent.userIDs()[0]
            // Read after the parent was opened: the number still is that of the parent, and a parent is never younger.
            guard try folder.record().parent == parentNumber, record.startTime <= name.startTime,
                try parent.isRunning(), try folder.isRunning()
            else { return nil }
            return NamedProcess(
                ProcessName(processID: parentNumber, startTime: record.startTime, userID: user), parent, record)
        } catch {
            return nil
        }
    }
}
