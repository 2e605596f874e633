// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// restart: ends the daemon, so that the next call starts it with what its files say now.
enum Restart {
    private static let secondsToEnd: Int64 = 10

    static func run(_ options: Options) throws(CommandFailure) {
        let ended = try failing { () throws(Failure) -> Int32? in
            guard try DaemonFinder.systemUser() == nil else {
                throw Failure(
                    .notPermitted, "The keychain of the system is served by services, which only root restarts.",
                    hint: "As root: systemctl restart latchkeyd latchkey-authd")
            }
            return try endDaemon()
        }
        guard !options.isJSON else {
            return Output.write(JSON.object([("ended", ended.map { .number(Int64($0)) } ?? .null)]).line + "\n")
        }
        Output.write(
            ended == nil
                ? localized("No daemon is running. The next command or app starts it.") + "\n"
                : localized("The daemon has ended. The next command or app starts it again.") + "\n")
    }

    /// Ends the daemon of this user's store, and waits until it has ended.
    ///
    /// - Returns: its process id; nil if there is none, and then none is started only to be ended.
    @discardableResult static func endDaemon() throws(Failure) -> Int32? {
        let folder = try StoreLocation.folder()
        func serving() throws(Failure) -> Int32? {
            try DaemonProbe.process(servingStoreIn: folder, seconds: secondsToEnd)
        }
        guard let process = try serving() else { return nil }
        do throws(SystemError) {
            // One that cannot be named any more is not signalled.
            try ProcessHandle.end(process, within: secondsToEnd) { (try? serving()) == process }
            return process
        } catch {
            throw Failure(error, "The daemon, process \(process), cannot be ended")
        }
    }
}
