// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// restart: ends the daemon, so that the next call starts it with what its files say now.
enum Restart {
    private static let secondsToEnd: Int64 = 10

    static func run(_ options: Options) throws(CommandFailure) {
        do throws(Failure) {
            let report = try Client.command.status()
            switch report.tier {
            case .user, .simulated: break
            case .file, .tpm:
                throw Failure(
                    .notPermitted, "The keychain of the system is served by services, which only root restarts.",
                    hint: "As root: systemctl restart latchkeyd latchkey-authd")
            }
            try end(report)
            Output.write(
                options.isJSON
                    ? JSON.object([("ended", .number(Int64(report.processID)))]).line + "\n"
                    : localized("The daemon has ended. The next command or app starts it again.") + "\n")
        } catch {
            throw .failure(error)
        }
    }

    /// Ends the daemon of this user that has just answered, and waits until it has ended.
    static func end(_ report: StatusReport) throws(Failure) {
        let process = report.processID
        do throws(SystemError) {
            let handle: ProcessHandle
            do throws(SystemError) { handle = try ProcessHandle(process) } catch {
                guard error.code == ESRCH else { throw error }
                return
            }
            // The number may have been given to another process since. A daemon that answers now with the same number is
            // the one that the handle names.
            guard (try? Client.command.status())?.processID == process else { return }
            try handle.signal(SIGTERM)
            guard try handle.hasEnded(by: Uptime.deadline(seconds: secondsToEnd)) else {
                throw SystemError("poll", code: ETIMEDOUT)
            }
        } catch {
            throw Failure(error, "The daemon, process \(process), cannot be ended")
        }
    }
}
