// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc
package import LatchkeyModel

/// What every daemon does when it starts and ends.
package enum DaemonProcess {
    /// Protects the process's memory from other programs, and locks secrets in RAM.
    ///
    /// - Returns: a function that returns why secrets may be swapped out; nil while none may.
    package static func protectMemory() throws(Failure) -> @Sendable () -> String? {
        ProcessProtection.returnLargeBlocks()
        try protect()
        // The daemon runs even so, because an unavailable keychain is worse than keys that may be swapped out;
        // `status` reports the reason.
        let reason = SecretMemory.lock().map { "The kernel refuses to lock memory: \($0)." }
        return {
            if let reason { return reason }
            let missed = SecretMemory.missedCount
            return missed == 0 ? nil : "The locked memory was too small for \(missed) secrets."
        }
    }

    /// Protects the memory of a process that has no secrets, such as its descriptors, from other programs.
    package static func protect() throws(Failure) {
        do throws(SystemError) {
            try ProcessProtection.enable()
        } catch {
            throw Failure(
                .internalFailure, "The daemon's memory cannot be protected from other programs: \(error.description).")
        }
    }

    /// Names a process that was started as /proc/self/exe, for people who look at a list of processes.
    package static func takeName() {
        // Without the name it would only be called "exe".
        if let path = Environment.executable { _ = latchkey_name_process(Files.name(of: path)) }
    }

    /// Ends the process of a user without an account with the status that tells the accepting process so: somebody can
    /// have thousands of user numbers without accounts, and none of them gets a folder.
    package static func checkAccount(of channel: WorkerChannel) {
        do throws(Failure) {
            _ = try Accounts.name(of: channel.user)
        } catch {
            // A database that cannot be read is no answer: the programs get the error when they are identified.
            if error.cause == nil { ProgramEnd.now(WorkerMessage.noAccount) }
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

    /// Blocks the terminating signals, so that `stop(_:on:)` can wait for them; not those that are ignored, which would
    /// otherwise end the process.
    package static func blockEndingSignals() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] where !EndingSignals.isIgnored(number) { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }

    /// Waits for a terminating signal on a separate thread, then calls `body`.
    package static func stop(on signals: sigset_t, _ body: @escaping @Sendable () -> Void) {
        Processes.detachThread {
            var waited = signals
            var number: CInt = 0
            sigwait(&waited, &number)
            body()
        }
    }
}
