// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A temporary store with the real daemon, the real agent on this display, and client programs.
final class Machine {
    let folder: URL
    let agent: Program
    private static let programs = ProcessInfo.processInfo.environment["LATCHKEY_PROGRAMS"] ?? ""
    /// The folder for screenshots; nil when none are to be taken.
    private static let pictures = ProcessInfo.processInfo.environment["LATCHKEY_SCREENSHOTS"].flatMap {
        $0.isEmpty ? nil : $0
    }

    init(simulated: Bool = true, environment: [String: String] = [:]) throws {
        try #require(FileManager.default.isExecutableFile(atPath: Machine.programs + "/latchkeyd"))
        folder = FileManager.default.temporaryDirectory.appending(
            path: "latchkey-agent.\(getpid()).\(UInt32.random(in: 0...(.max)))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if simulated { try Data("tier = simulated\n".utf8).write(to: folder.appending(path: "latchkeyd.conf")) }
        let ready = try Readiness(folder)
        agent = try Machine.agent(folder, ready, environment)
        #expect(ready.comes(), "the agent registers")
    }

    deinit {
        agent.end()
        _ = agent.status
        if let daemon {
            kill(daemon, SIGCONT)
            kill(daemon, SIGKILL)
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// The daemon's process id, from its lock file.
    var daemon: pid_t? {
        let lines = try? String(contentsOf: folder.appending(path: "daemon.lock"), encoding: .utf8).split(
            separator: "\n")
        return lines.flatMap { $0.count == 3 ? pid_t($0[2]) : nil }
    }

    private static func environment(_ folder: URL, app: String = "test") -> [String: String] {
        [
            "LATCHKEY_HOME": folder.path, "LATCHKEY_DAEMON": Machine.programs + "/latchkeyd",
            "HOME": folder.path, "LATCHKEY_APP_ID": app,
        ]
    }

    // MARK: - Programs

    private static func agent(
        _ folder: URL, _ ready: Readiness, _ more: [String: String] = [:]
    ) throws -> Program {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? ""
        let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: "latchkey-agent").path
        let own = environment(folder).merging(["NOTIFY_SOCKET": ready.path]) { $1 }
        return try Program(program, [], own.merging(more) { $1 })
    }

    /// Starts a second agent.
    func startAnotherAgent() throws -> Program { try Machine.agent(folder, Readiness(folder, name: "another")) }

    /// Runs `latchkey` and returns its output.
    @discardableResult func latchkey(_ arguments: String, input: String = "") throws -> String {
        let program = try Program(
            Machine.programs + "/latchkey", arguments.split(separator: " ").map(String.init),
            Machine.environment(folder), input: input)
        let said = program.said
        #expect(program.status == 0, "latchkey \(arguments): \(said)")
        return said
    }

    /// Starts a program that causes a prompt, and gives the prompt the focus.
    func start(_ program: String, _ arguments: [String]) throws -> Program {
        let program = try Program(Machine.programs + "/" + program, arguments, Machine.environment(folder))
        try press()
        return program
    }

    /// Starts a program that evaluates a policy, and gives its prompt the focus if `isShown`. Without `isShown`, the
    /// prompt may be missing.
    func ask(
        _ arguments: [String], app: String = "latchkey-test-client", isShown: Bool = true
    ) throws -> Asking {
        let program = try Program(
            Machine.programs + "/latchkey-test-client", ["evaluate"] + arguments,
            Machine.environment(folder, app: app))
        if isShown { try press() }
        return Asking(program: program)
    }

    /// A running evaluation.
    struct Asking {
        let program: Program

        /// The result of the evaluation.
        var end: String { String(program.said.split(separator: "\n").last?.prefix { $0 != " " } ?? "") }
    }

    // MARK: - The screen

    /// Waits until the prompt fulfils a condition, and returns it; fails after 20 seconds.
    ///
    /// Reading a window takes many calls on the accessibility bus, and the agent may update it meanwhile: parts may
    /// then be of different states. Only a window that reads the same twice is returned.
    @discardableResult func sees(
        _ isRight: (Accessible) -> Bool, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Accessible {
        let deadline = ContinuousClock.now + .seconds(20)
        var last: [Accessible] = []
        while ContinuousClock.now < deadline {
            last = ScreenReader.windows(of: agent.number)
            if last.count == 1, isRight(last[0]) {
                let again = ScreenReader.windows(of: agent.number)
                if again.map(\.summary) == last.map(\.summary) { return again[0] }
            }
            poll(nil, 0, 20)
        }
        let names = last.flatMap(\.all).map { "\($0.role): \($0.name)" }
        Issue.record("the screen shows \(names)", sourceLocation: sourceLocation)
        throw CancellationError()
    }

    /// Waits until the prompt contains exactly this text, and returns it.
    @discardableResult func sees(
        _ words: String, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Accessible { try sees({ $0.all.contains { $0.name == words } }, sourceLocation) }

    /// Waits until no prompt is shown; fails after 20 seconds.
    func seesNothing(_ sourceLocation: SourceLocation = #_sourceLocation) {
        let deadline = ContinuousClock.now + .seconds(20)
        while !ScreenReader.windows(of: agent.number).isEmpty {
            guard ContinuousClock.now < deadline else {
                Issue.record("the prompt stays", sourceLocation: sourceLocation)
                return
            }
            poll(nil, 0, 20)
        }
    }

    /// Presses keys, given by their X names.
    func press(_ keys: String...) throws {
        // There is no window manager that would give the window the focus.
        try tool("xdotool", ["search", "--sync", "--onlyvisible", "--name", "^Latchkey$", "windowfocus", "--sync"])
        for key in keys { try tool("xdotool", ["key", "--delay", "20", key]) }
    }

    /// Types a text.
    func type(_ text: String) throws {
        try press()
        try tool("xdotool", ["type", "--delay", "20", text])
    }

    /// Takes a screenshot, if enabled.
    func picture(_ name: String) throws {
        guard let pictures = Machine.pictures else { return }
        // Does not wait for a stable picture, because spinner and cursor are animated.
        try tool("import", ["-window", "root", "-trim", "+repage", "\(pictures)/\(name).png"])
    }

    func tool(_ name: String, _ arguments: [String]) throws {
        let program = try Program("/usr/bin/\(name)", arguments)
        #expect(program.status == 0, "\(name) \(arguments)")
    }
}

extension Accessible {
    /// All descendants with this role.
    func all(_ role: String) -> [Accessible] { all.filter { $0.role == role } }

    /// The titles of the buttons in order, without the one in the field.
    var buttons: [String] { all("push button").map(\.name).filter { $0 != Self.reveal } }

    /// The button that reveals the typed text. GTK 4.8 reports it with the role of a plain button.
    var toggle: Accessible? {
        all.first { ["push button", "toggle button"].contains($0.role) && $0.name == Self.reveal }
    }

    private static let reveal = "Show Passcode"

    /// The passcode field.
    var field: Accessible? { all("password text").first }

    /// The text that is announced when it changes.
    var announced: String { all("alert").map(\.name).joined(separator: "|") }

    /// The element with the focus.
    var focused: Accessible? { all.first(where: \.isFocused) }

    /// Presses the button with this title; fails when there is none.
    func press(_ title: String, _ sourceLocation: SourceLocation = #_sourceLocation) {
        let button = all("push button").first { $0.name == title }
        #expect(button?.press() == true, "\(title) is pressed; there are \(buttons)", sourceLocation: sourceLocation)
    }

    /// Whether an element has exactly this text.
    func says(_ words: String) -> Bool { all.contains { $0.name == words } }
}
