// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// A simulated daemon with its store in a temporary folder, which is removed when the demo ends.
struct DemoMachine {
    let folder: String
    let daemon: Int32
    /// The TPM that has the private keys; nil if swtpm is not installed.
    let chip: DemoChip?

    init() throws {
        var template = Array("/tmp/latchkey-demo.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw DemoFailure("no folder can be made in /tmp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        setenv("LATCHKEY_HOME", folder, 1)
        // The access group of the demo's items, whatever the user's own setting is.
        setenv("LATCHKEY_APP_ID", "latchkey-demo", 1)
        chip = DemoChip.isInstalled ? try DemoChip(folder) : nil
        do {
            if let chip {
                let lines = "enclave = tpm\ntpm = \(chip.path)\n"
                try Files.replace(folder + "/latchkeyd.conf", with: SecretBytes(lines.utf8))
            }
            let process = try Processes.spawn(
                DaemonProgram.find(), ["--simulated", "--detach"], descriptors: [nil, nil, nil])
            Processes.wait(process)
            let report = try Client.daemon.call(Request.Status())
            guard report.problem == nil else {
                throw DemoFailure("the daemon cannot use its store")
            }
            daemon = report.processID
        } catch let failure as Failure {
            throw DemoFailure("\(failure.message) \(failure.hint)")
        } catch let error as SystemError {
            throw DemoFailure(error.description)
        }
        guard daemon != getpid() else { throw DemoFailure("the daemon runs in this process") }
    }

    func control(_ request: some DaemonRequest) throws {
        do throws(Failure) {
            _ = try Client.daemon.call(request)
        } catch {
            throw DemoFailure("\(error.message) \(error.hint)")
        }
    }

    /// Ends the daemon and removes the folder.
    func remove() {
        kill(daemon, SIGTERM)
        chip?.end()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
