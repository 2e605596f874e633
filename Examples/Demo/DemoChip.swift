// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem

/// A TPM in software for the demo, if the package swtpm is installed: a program of its own, with its state in the demo's
/// folder.
struct DemoChip {
    /// The path of its socket.
    let path: String
    private let process: pid_t

    private static let program = "/usr/bin/swtpm"

    /// Whether the package is installed.
    static var isInstalled: Bool { access(program, X_OK) == 0 }

    /// Starts it.
    init(_ folder: String) throws {
        path = folder + "/tpm-socket"
        let state = folder + "/tpm"
        do {
            guard mkdir(state, 0o700) == 0 else { throw SystemError("mkdir") }
            // It inherits a socket that listens already, so that nothing has to wait for it.
            let listener = try Sockets.listen(path)
            _ = fcntl(listener.number, F_SETFL, fcntl(listener.number, F_GETFL) & ~O_NONBLOCK)
            process = try Processes.spawn(
                DemoChip.program,
                [
                    "socket", "--tpm2", "--server", "type=unixio,fd=3", "--tpmstate", "dir=" + state, "--log",
                    "file=/dev/null", "--flags", "not-need-init,startup-clear",
                ], descriptors: [nil, nil, nil, listener])
        } catch let error as SystemError {
            throw DemoFailure("swtpm does not start: \(error.description)")
        }
    }

    /// Ends it.
    func end() {
        kill(process, SIGKILL)
        Processes.wait(process)
    }
}
