// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// A simulated daemon with its store in a temporary folder, which is removed when the demo ends.
struct DemoMachine {
    let folder: String
    let daemon: Int32

    init() throws {
        var template = Array("/tmp/latchkey-demo.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw DemoFailure("no folder can be made in /tmp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        setenv("LATCHKEY_HOME", folder, 1)
        // The access group of the demo's items, whatever the user's own setting is.
        setenv("LATCHKEY_APP_ID", "latchkey-demo", 1)
        do {
            let process = try Processes.spawn(
                DaemonProgram.find(), ["--simulated", "--detach"], descriptors: [nil, nil, nil])
            Processes.wait(process)
            guard case .status(let report) = try Client.daemon.call(.status), report.problem == nil else {
                throw DemoFailure("the daemon cannot use its store")
            }
            daemon = report.processID
        } catch let failure as Failure {
            throw DemoFailure("\(failure.message) \(failure.hint)")
        }
        guard daemon != getpid() else { throw DemoFailure("the daemon runs in this process") }
    }

    func control(_ request: Request) throws {
        do throws(Failure) {
            _ = try Client.daemon.call(request)
        } catch {
            throw DemoFailure("\(error.message) \(error.hint)")
        }
    }

    /// Ends the daemon and removes the folder.
    func remove() {
        kill(daemon, SIGTERM)
        try? FileManager.default.removeItem(atPath: folder)
    }
}
