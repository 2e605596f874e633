// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc

/// Starts programs and threads.
package enum Processes {
    /// Starts a program that inherits only the given descriptors, with no signal blocked and the default signal
    /// actions.
    ///
    /// - Parameters:
    ///   - environment: entries `NAME=value`; nil passes on this process's environment.
    ///   - descriptors: become descriptors 0, 1, 2, … of the program; nil is replaced by /dev/null.
    ///   - newSession: whether the program starts in a session of its own, without this process's terminal.
    ///   - terminal: the path of a terminal that becomes descriptors 0, 1 and 2 and the controlling terminal.
    /// - Returns: its process id; the caller must wait for it.
    package static func spawn(
        _ path: String, _ arguments: [String], environment: [String]? = nil, descriptors: [Descriptor?] = [],
        newSession: Bool = true, terminal: String? = nil
    ) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        for (target, descriptor) in descriptors.enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor.number, CInt(target))
            } else {
                posix_spawn_file_actions_addopen(&actions, CInt(target), "/dev/null", O_RDWR, 0)
            }
        }
        if let terminal {
            // The first terminal that a session leader opens becomes its controlling one.
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }
        _ = latchkey_spawn_close_from(&actions, terminal == nil ? CInt(descriptors.count) : 3)
        // Blocked signals and signal actions of the parent must not be inherited.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        if newSession { flags |= latchkey_spawn_setsid_flag() }
        posix_spawnattr_setflags(&attributes, flags)
        var process: pid_t = 0
        let code = withCStrings([path] + arguments) { arguments in
            if let environment {
                return withCStrings(environment) {
                    posix_spawn(&process, path, &actions, &attributes, arguments, $0)
                }
            }
            return posix_spawn(&process, path, &actions, &attributes, arguments, Glibc.environ)
        }
        guard code == 0 else { throw SystemError("posix_spawn", code: code) }
        return process
    }

    /// Replaces this process by a program with the same environment and terminal (execv(3)).
    ///
    /// - Returns: the error, if the program cannot be started.
    package static func become(_ path: String, _ arguments: [String]) -> SystemError {
        withCStrings([path] + arguments) { _ = execv(path, $0) }
        return SystemError("execv")
    }

    /// Waits for a child to end and returns its wait status.
    @discardableResult
    package static func wait(_ process: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Waits for a child to end, kills it with SIGKILL after `seconds`, and returns its wait status. Not for services,
    /// where a `ChildProcess` has the pidfd of its child from the start.
    @discardableResult
    package static func wait(_ process: pid_t, killAfter seconds: Int64) -> CInt {
        // Without a pidfd it is not killed; it has ended, or this process has no descriptor left.
        if let handle = handle(process), !hasEnded(handle, within: seconds) {
            _ = latchkey_pidfd_signal(handle.number, SIGKILL)
        }
        return wait(process)
    }

    /// Waits until a process ends, whether or not it is a child; false when it still runs after `seconds`.
    package static func hasEnded(_ process: pid_t, within seconds: Int64) -> Bool {
        guard let handle = handle(process) else { return errno == ESRCH }
        return hasEnded(handle, within: seconds)
    }

    private static func handle(_ process: pid_t) -> Descriptor? {
        let number = latchkey_pidfd_open(process)
        return number >= 0 ? Descriptor(owning: number) : nil
    }

    /// A pidfd becomes readable when the process has ended (pidfd_open(2)).
    private static func hasEnded(_ handle: Descriptor, within seconds: Int64) -> Bool {
        (try? handle.wait(for: POLLIN, until: Uptime.deadline(seconds: seconds))) ?? false
    }

    static func withCStrings<R>(_ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { buffer in
            // The array ends with nil and is never empty, so it has a base address.
            // swift-format-ignore: NeverForceUnwrap
            body(buffer.baseAddress!)
        }
    }

    /// Runs `body` on a new detached thread, or on the calling thread when none can be created.
    package static func detachThread(_ body: @escaping @Sendable () -> Void) {
        // `body` must run exactly once.
        if !startThread(body) { body() }
    }

    /// Runs `body` on a new detached thread; false when none can be created, and then `body` does not run.
    package static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let box = Unmanaged.passRetained(Box(body))
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                // The argument is the box of the line above and is never nil.
                // swift-format-ignore: NeverForceUnwrap
                Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if code != 0 { box.release() }
        return code == 0
    }
}
