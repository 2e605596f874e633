// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A child process with input and output in files: unlike a pipe, a file cannot be held open by a descendant.
final class Program {
    let number: pid_t
    private let output: String
    private var waited: CInt?

    init(
        _ program: String, _ arguments: [String], _ environment: [String: String] = [:], input: String = ""
    ) throws {
        let name = FileManager.default.temporaryDirectory.appending(path: "latchkey-agent.\(UUID().uuidString)").path
        output = name
        try Data(input.utf8).write(to: URL(filePath: name + ".in"))
        defer { unlink(name + ".in") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, name + ".in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables =
            ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        // Threads of the test process block signals, which a child would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var number: pid_t = 0
        let code = posix_spawn(&number, program, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        self.number = number
    }

    deinit { unlink(output) }

    /// Waits until the process has ended; false after `seconds`.
    func hasEnded(within seconds: Double) -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while waited == nil {
            var status: CInt = 0
            if waitpid(number, &status, WNOHANG) == number {
                waited = status
            } else {
                guard ContinuousClock.now < deadline else { return false }
                poll(nil, 0, 10)
            }
        }
        return true
    }

    /// Waits at most 30 seconds for its exit status; nil when it was killed or still runs.
    var status: CInt? {
        guard hasEnded(within: 30), let waited, waited & 0x7f == 0 else { return nil }
        return (waited >> 8) & 0xff
    }

    /// The whole output, after it has ended.
    var said: String {
        guard hasEnded(within: 30) else { return "still running" }
        return saidSoFar
    }

    /// The output so far.
    var saidSoFar: String {
        FileManager.default.contents(atPath: output).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func end() { kill(number, SIGTERM) }
}
