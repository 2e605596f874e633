// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import Synchronization
import TestPromises
import TestSupport
import Testing

/// An identification that cannot look is an error, never another identity: each of its system calls fails in turn, with each
/// error.
@Suite(.needs(.root), .needs(.protectedFolder)) struct IdentificationErrorTests {
    /// A call of an identification.
    private struct Call: Hashable, Sendable, CustomStringConvertible {
        let name: String
        let path: String
        var description: String { "\(name) \(path)" }
    }

    /// Records the calls, and lets the one with a number fail.
    private final class Calls: Sendable {
        private let state = Mutex<(made: [Call], failing: Int?, code: CInt)>(([], nil, 0))

        init(failing: Int? = nil, code: CInt = 0) { state.withLock { $0 = ([], failing, code) } }
        var made: [Call] { state.withLock { $0.made } }
        var calls: SystemCalls {
            SystemCalls { [self] name, path in
                state.withLock { state in
                    state.made.append(Call(name: name, path: path))
                    return state.made.count - 1 == state.failing ? state.code : nil
                }
            }
        }
    }

    /// Errors of exhaustion, of devices, of permissions, and all those that one of the calls has as a fact.
    private static let codes: [CInt] = [
        EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, EIO, EACCES, EPERM, ENOENT, ESRCH, ELOOP, ENOTDIR, EINVAL, ENAMETOOLONG,
        EFBIG, ENOSYS, ETIMEDOUT, EBUSY, ESTALE, ENXIO, ENODEV, ENOTSUP, EBADMSG, ENOBUFS, EOVERFLOW, ECHILD,
    ]

    private let folder: RootFolder
    private let program: String
    private let child: Child

    init() throws {
        folder = try RootFolder()
        program = try folder.copy(of: "/usr/bin/cat", "echo-app")
        try folder.write("echo.conf", "name = Echo\nprogram = \(program)\n")
        child = try Child(program, environment: ["HOME=/"])
        try child.awaitEcho()
    }

    private func identity(_ calls: SystemCalls) throws -> ProgramIdentity {
        try ProgramIdentifier(
            declarations: DeclarationFolder(folder.path, calls), reference: getpid(), calls
        ).identify(child.name())
    }

    /// The errors that are facts, as docs/reference/identity.md lists them, stated here a second time.
    private func isFact(_ call: Call, _ code: CInt) -> Bool {
        let components = Set(program.split(separator: "/").map(String.init) + ["/"])
        let folders = Set(folder.path.split(separator: "/").map(String.init) + ["/"])
        switch (call.name, call.path) {
        case ("openat", "exe"): return code == ENOENT
        case ("readlinkat", "exe"): return [ENOENT, ENAMETOOLONG].contains(code)
        case ("openat", program): return code == EACCES
        case ("openat", "ns/user"), ("openat", "ns/mnt"), ("openat", "root"): return code == ENOENT
        case ("readdir", "task"): return code == EFBIG
        case ("openat", let path) where path.hasPrefix("task/"): return code == ENOENT
        case ("read", let path) where path.hasPrefix("task/"): return code == ESRCH
        // Not a fact, but tried again as the user of the process; see below.
        case ("openat", "environ"): return code == EACCES
        case ("read", "environ"): return code == EFBIG
        case ("openat", "cgroup"): return code == ENOENT
        case ("openat", "echo.conf"): return [ENOENT, ELOOP, ENXIO, ENODEV, EACCES].contains(code)
        case ("read", "echo.conf"): return [EFBIG, ENOTSUP].contains(code)
        case ("readdir", folder.path): return code == EFBIG
        case ("lstat", _): return [ENOENT, ENOTDIR].contains(code)
        // The walks to the program and to the folder of declarations have the same first components.
        case ("openat", let path) where folders.contains(path):
            return [ENOENT, ENOTDIR, ELOOP].contains(code)
                || [ENAMETOOLONG, EINVAL, EACCES].contains(code)
        case ("openat", let path) where components.contains(path):
            return [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EINVAL, EACCES].contains(code)
        case ("statx", let path) where components.contains(path): return code == EACCES
        default: return false
        }
    }

    @Test(.promise("identity.errors")) func eachErrorOfEachCallIsAnErrorUnlessItIsAFact() throws {
        let recorder = Calls()
        let whole = try identity(recorder.calls)
        #expect(whole.groups == ["Echo"] && whole.strength == .program)
        let made = recorder.made
        #expect(
            Set(made.map(\.name)) == [
                "pidfd_open", "openat", "read", "readlinkat", "statx", "readdir", "lstat", "poll",
            ])
        var (errors, facts) = (0, 0)
        var wrong: [String] = []
        for (index, call) in made.enumerated() {
            for code in Self.codes {
                do {
                    let identity = try identity(Calls(failing: index, code: code).calls)
                    facts += 1
                    if !isFact(call, code) { wrong.append("\(call), \(code): \(identity.groups)") }
                } catch let failure as Failure {
                    errors += 1
                    #expect([.daemonUnavailable, .peerNotTrusted].contains(failure.status))
                    #expect(!failure.message.isEmpty && !failure.hint.isEmpty)
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        print("\(made.count) calls, \(errors) errors, \(facts) facts")
        #expect(errors > made.count * Self.codes.count * 8 / 10)
    }

    /// What fails because the process ends meanwhile, with whatever error, is no error of the service.
    @Test func aProcessThatEndsMeanwhileIsNamedAsTheCause() throws {
        let recorder = Calls()
        _ = try identity(recorder.calls)
        let made = recorder.made
        let opened = try #require(made.firstIndex { $0.name == "openat" }) + 1
        let last = try #require(made.lastIndex { $0.name == "poll" })
        for index in opened...last {
            let ending = try Child(program, environment: ["HOME=/"])
            try ending.awaitEcho()
            let count = Atomic(0)
            let calls = SystemCalls { _, _ in
                guard count.wrappingAdd(1, ordering: .relaxed).oldValue == index else { return nil }
                kill(ending.processID, SIGKILL)
                var ended = siginfo_t()
                waitid(P_PID, id_t(ending.processID), &ended, WEXITED | WNOWAIT)
                return EIO
            }
            let name = try ending.name()
            #expect(throws: Failure(.peerNotTrusted), "\(made[index])") {
                try ProgramIdentifier(declarations: DeclarationFolder(folder.path, calls), reference: getpid(), calls)
                    .identify(name)
            }
        }
    }

    @Test(.promise("identity.errors"), arguments: [EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, EIO, ETIMEDOUT])
    func exhaustionIsNeverAFact(code: CInt) throws {
        let recorder = Calls()
        _ = try identity(recorder.calls)
        for index in recorder.made.indices {
            #expect(throws: Failure(.daemonUnavailable), "\(recorder.made[index])") {
                try identity(Calls(failing: index, code: code).calls)
            }
        }
    }

    @Test func anEnvironmentThatTheServiceMayNotOpenIsAnError() throws {
        let calls = SystemCalls { call, path in call == "openat" && path == "environ" ? EACCES : nil }
        #expect(throws: Failure(.daemonUnavailable)) { try identity(calls) }
    }

    @Test func sessionOfAProcessThatCannotBeReadIsAnError() throws {
        let process = child.processID
        let recorder = Calls()
        _ = try ControlGroup.session(ofProcess: process, user: getuid(), recorder.calls)
        for index in recorder.made.indices {
            #expect(throws: Failure(.daemonUnavailable)) {
                try ControlGroup.session(ofProcess: process, user: getuid(), Calls(failing: index, code: EMFILE).calls)
            }
        }
    }
}
