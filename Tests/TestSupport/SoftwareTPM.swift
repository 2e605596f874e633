// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import Synchronization

extension Need {
    /// The software TPM of the package swtpm.
    package static let softwareTPM = Need("swtpm: apt-get install swtpm") { access("/usr/bin/swtpm", X_OK) == 0 }
    /// The program that makes software TPMs with certificates.
    package static let softwareTPMMaker = Need("swtpm_setup: apt-get install swtpm swtpm-tools") {
        softwareTPM.isMet() && access("/usr/bin/swtpm_setup", X_OK) == 0
    }
}

/// A software TPM with a state of its own, which begins empty and ends with this object. It is reached at the socket
/// `path`, by one connection at a time.
package final class SoftwareTPM: Sendable {
    private let folder: TemporaryFolder
    private let process: pid_t
    private let hasEnded = Mutex(false)
    /// The path of the socket.
    package var path: String { folder.path + "/socket" }

    /// Starts a TPM.
    ///
    /// - Parameters:
    ///   - state: the folder of an earlier one, to play the same TPM after the machine was started again; nil for a new
    ///     one.
    ///   - prepare: called with the path of the folder before the TPM starts, to put a state there.
    package init(state earlier: SoftwareTPM? = nil, prepare: (String) throws -> Void = { _ in }) throws {
        folder = try earlier?.folder ?? TemporaryFolder()
        try prepare(folder.path)
        // It inherits a socket that listens already, so that nothing has to wait for it.
        let listener = try Sockets.listen(folder.path + "/socket")
        let flags = fcntl(listener.number, F_GETFL)
        _ = fcntl(listener.number, F_SETFL, flags & ~O_NONBLOCK)
        process = try Processes.spawn(
            "/usr/bin/swtpm",
            [
                "socket", "--tpm2", "--server", "type=unixio,fd=3", "--tpmstate", "dir=" + folder.path, "--flags",
                "not-need-init,startup-clear",
            ], descriptors: [nil, nil, nil, listener])
    }

    /// Ends the TPM as if the machine had lost its power, and waits for the end.
    package func kill() {
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return }
            Glibc.kill(process, SIGKILL)
            Processes.wait(process)
            hasEnded = true
        }
    }

    /// Stops the TPM, and waits until it has stopped. It carries out no command that is sent from now on.
    package func suspend() {
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return }
            Glibc.kill(process, SIGSTOP)
            var status: CInt = 0
            while waitpid(process, &status, WUNTRACED) < 0, errno == EINTR {}
        }
    }

    deinit { kill() }
}
