// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A software TPM whose power a test cuts and turns on again; its memory survives that.
package final class SwitchedTPM: Sendable {
    private let tpm: Mutex<SoftwareTPM>
    /// The path of the socket, the same after each start.
    package let path: String

    /// Starts a new TPM.
    package init() throws {
        let first = try SoftwareTPM()
        path = first.path
        tpm = Mutex(first)
    }

    /// Ends the TPM in the middle of what it does.
    package func cutPower() { tpm.withLock { $0.kill() } }

    /// Stops the TPM before it begins the next command; it goes on only with `start` after `cutPower`.
    package func suspend() { tpm.withLock { $0.suspend() } }

    /// Starts the TPM again.
    package func start() throws { try tpm.withLock { $0 = try SoftwareTPM(state: $0) } }
}
