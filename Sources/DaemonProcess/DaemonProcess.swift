// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc
package import LatchkeyModel
package import LatchkeySystem
package import LatchkeyTransport

/// What every daemon does when it starts and ends.
package enum DaemonProcess {
    /// Protects the process's memory from other programs, and locks secrets in RAM.
    ///
    /// - Returns: a function that returns why secrets may be swapped out; nil while none may.
    package static func protectMemory() throws(Failure) -> @Sendable () -> String? {
        ProcessProtection.returnLargeBlocks()
        do throws(SystemError) {
            try ProcessProtection.enable()
        } catch {
            throw Failure(
                .internalFailure, "The daemon's memory cannot be protected from other programs: \(error.description).")
        }
        // The daemon runs even so, because an unavailable keychain is worse than keys that may be swapped out;
        // `status` reports the reason.
        let reason = SecretMemory.lock().map { "The kernel refuses to lock memory: \($0)." }
        return {
            if let reason { return reason }
            let missed = SecretMemory.missedCount
            return missed == 0 ? nil : "The locked memory was too small for \(missed) secrets."
        }
    }

    /// Takes the lock of a service's folder, which `latchkey admin remove-user` needs alone; waits while it has it.
    package static func shareFolder(_ path: String) throws(Failure) -> FolderLock {
        do throws(SystemError) {
            return try FolderLock.share(path)
        } catch {
            throw Failure(error, "\(path) cannot be locked")
        }
    }

    /// Blocks the terminating signals, so that `stop(_:on:)` can wait for them.
    package static func blockEndingSignals() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    /// Waits for a terminating signal on a separate thread, then stops the server after the current turn of its loop.
    package static func stop(_ server: FrameServer, on signals: sigset_t) {
        Processes.detachThread {
            var waited = signals
            var number: CInt = 0
            sigwait(&waited, &number)
            server.stop()
        }
    }
}
