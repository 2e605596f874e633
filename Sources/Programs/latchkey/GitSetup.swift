// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// setup git: git changes its own files, since it alone reads them as they are meant.
enum GitSetup {
    private static let key = "credential.helper"
    /// Says that the empty helper before ours is from here, which makes git forget those before it.
    private static let mark = "credential.latchkeyreplaced"
    private static let helper = "latchkey"

    static func run(_ options: Options) throws(CommandFailure) {
        var change = SetupChange(tool: .git, place: "git config --global")
        let commands = try failing { () throws(Failure) in
            options.has(.undo) ? try undoing() : try setting(replaces: options.replaces)
        }
        for command in commands {
            let line = "\(command[1]) = \(command[2])"
            if command[0] == "--add" { change.added.append(line) } else { change.removed.append(line) }
        }
        try change.make(options) { () throws(Failure) in
            for command in commands {
                // A value is compared as it is, and is no expression.
                let value = command[0] == "--add" ? [] : ["--fixed-value"]
                guard try git(["config", "--global"] + value + command).status == 0 else { throw failed }
            }
        }
    }

    /// The arguments of `git config --global`: what it does, the key and a value.
    private static func setting(replaces: Bool) throws(Failure) -> [[String]] {
        try SetupChange.checkHelper(of: .git)
        let own = try values("--global", key)
        guard !own.contains(helper) else { return [] }
        let others =
            (try values("--system", key) + own).split(separator: "", omittingEmptySubsequences: false).last ?? []
        guard let other = others.first else { return [["--add", key, helper]] }
        guard replaces else { throw SetupChange.refusal(.git, other) }
        guard !own.contains("") else {
            throw Failure(
                .invalidParameter, "\(key) has an empty value already, and a second one could not be undone.",
                hint: "Remove it with: git config --global --edit")
        }
        return [["--add", mark, "true"], ["--add", key, ""], ["--add", key, helper]]
    }

    private static func undoing() throws(Failure) -> [[String]] {
        guard try values("--global", key).contains(helper) else { return [] }
        let ours = [["--unset-all", key, helper]]
        guard try values("--global", mark) == ["true"] else { return ours }
        return ours + [["--unset-all", key, ""], ["--unset-all", mark, "true"]]
    }

    // MARK: - git

    private static var failed: Failure {
        Failure(.storeUnreadable, "git could not read or change its configuration.", hint: "See: git config --list")
    }

    /// The values of a key in the files of one level, in their order.
    private static func values(_ level: String, _ key: String) throws(Failure) -> [String] {
        let (status, output) = try git(["config", level, "--null", "--get-all", key])
        // git-config(1): the key is not there. A file of the system need not be there either.
        guard status == 0 else {
            guard status == 1 else { throw failed }
            return []
        }
        return output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private static func git(_ arguments: [String]) throws(Failure) -> (status: CInt, output: [UInt8]) {
        do throws(SystemError) {
            guard let program = try Processes.find(Array("git".utf8)).text else {
                throw SystemError("execve", code: ENOENT)
            }
            let (process, output) = try start(program, arguments)
            let text = try output.readAll(limit: 1 << 20)
            let status = Processes.wait(process)
            return (status & 0x7f == 0 ? status >> 8 : -1, text)
        } catch {
            throw Failure(
                .itemNotFound, "git cannot be started: \(String(cString: strerror(error.code)))", hint: "Install git.")
        }
    }

    /// Closes this process's copy of the far end on return, so that the stream ends with git.
    private static func start(_ program: String, _ arguments: [String]) throws(SystemError) -> (pid_t, Descriptor) {
        let (near, far) = try Sockets.pair()
        let process = try Processes.spawn(
            program, arguments, descriptors: [nil, far, nil], newSession: false)
        return (process, near)
    }
}
