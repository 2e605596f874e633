// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// sim: plays the machine of a simulated daemon.
enum Simulation {
    static func run(_ options: Options) throws(CommandFailure) {
        guard let verb = options.arguments.first else {
            throw .usage("sim needs to be told what to do", "See: latchkey sim --help")
        }
        let rest = Array(options.arguments.dropFirst())
        switch (verb, rest.count) {
        case ("start", 0): try start()
        case ("stop", 0): try stop()
        case ("passcode", 1): return try Passcode.run(rest[0], options)
        case ("sensor", 1): try send(.sensor(try kind(rest[0])), options)
        case ("enrol", 0): try send(.enrol, options)
        case ("unenrol", 0): try send(.unenrol, options)
        case ("replace", 0): try send(.replaceFinger, options)
        case ("touch", 0): try send(.touch(matching: !options.isOther), options)
        case ("reset", 0): try send(.reset, options)
        case ("lock", 0): try send(.lock, options)
        case ("unlock", 0): try send(.unlock(byBiometry: !options.isOther), options)
        case ("face", 1) where ["allow", "deny"].contains(rest[0]):
            try send(.permission(rest[0] == "allow"), options)
        case ("look", 0): try send(.touch(matching: !options.isOther), options)
        case ("cancel", 0): try send(.cancel, options)
        case ("fallback", 0): try send(.fallback, options)
        case ("enter", 0):
            try send(.enter(try Input.passcodes(["Passcode: "], repeatsLast: false)[0]), options)
        case ("acknowledge", 0): try send(.acknowledgeCode, options)
        case ("enter-code", 0):
            try send(.enterCode(try Input.passcodes(["Recovery code: "], repeatsLast: false)[0]), options)
        case ("code", 0): try showCode(options)
        case ("accept-any", 1) where ["on", "off"].contains(rest[0]):
            try send(.acceptAnyPasscode(rest[0] == "on"), options)
        case ("fail", 1): try send(.fail(try fault(rest[0])), options)
        case ("restart", 0): try restart(options)
        case ("transcript", 0): try transcript(options)
        case ("confirm", 0): try send(.confirm, options)
        case ("pair", 1): try send(.pair(try companion(rest[0])), options)
        case ("unpair", 1): try send(.unpair(try companion(rest[0])), options)
        case ("near", 1): try send(.nearby(try companion(rest[0]), true), options)
        case ("far", 1): try send(.nearby(try companion(rest[0]), false), options)
        case ("background", 0): try send(.background(true), options)
        case ("foreground", 0): try send(.background(false), options)
        case ("advance", 1):
            guard let seconds = UInt64(rest[0]) else {
                throw .usage("advance takes seconds, not \(rest[0])", "See: latchkey sim --help")
            }
            try send(.advance(seconds: seconds), options)
        default: throw .usage("unknown: sim \(options.arguments.joined(separator: " "))", "See: latchkey sim --help")
        }
    }

    private static func kind(_ name: String) throws(CommandFailure) -> BiometryKind {
        switch name {
        case "none": return .none
        case "touchID", "touch": return .touchID
        case "faceID", "face": return .faceID
        case "opticID", "optic": return .opticID
        default: throw .usage("unknown sensor \(name)", "Use none, touch, face or optic.")
        }
    }

    private static func fault(_ name: String) throws(CommandFailure) -> SimulatedFailure {
        switch name {
        case "disk": return .diskFull
        case "entitlement": return .missingEntitlement
        case "sensor": return .sensor
        default: throw .usage("unknown fault \(name)", "Use disk, entitlement or sensor.")
        }
    }

    private static func companion(_ name: String) throws(CommandFailure) -> CompanionType {
        switch name {
        case "watch": return .watch
        case "mac": return .mac
        case "vision": return .vision
        default: throw .usage("unknown device \(name)", "Use watch, mac or vision.")
        }
    }

    private static func send(_ command: SimulatorCommand, _ options: Options) throws(CommandFailure) {
        let reply: Reply
        do throws(Failure) {
            reply = try Client.command.call(.simulate(command))
        } catch {
            throw .failure(error)
        }
        guard case .simulated(let delivered) = reply else {
            if options.isJSON { Output.write("{}\n") }
            return
        }
        let words = delivered ? "A prompt took it." : "No prompt waits for it: the next one takes it."
        Output.write(options.isJSON ? JSON.object([("delivered", .boolean(delivered))]).line + "\n" : words + "\n")
    }

    /// Starts a simulated daemon for the store that LATCHKEY_HOME names, and for that one only: a store of the user
    /// must not become a simulated one by a slip.
    private static func start() throws(CommandFailure) {
        guard let home = Environment.value("LATCHKEY_HOME") else {
            throw .usage(
                "sim start needs a folder of its own", "Run: export LATCHKEY_HOME=$(mktemp -d); latchkey sim start")
        }
        do throws(Failure) {
            let program = try DaemonProgram.find()
            do throws(SystemError) {
                let process = try Processes.spawn(
                    program, ["--simulated", "--detach"], descriptors: [nil, nil, nil], newSession: true)
                Processes.wait(process)
            } catch {
                throw Failure(.daemonUnavailable, "\(program) cannot be started: \(error.description).")
            }
            guard case .status(let report) = try Client.command.call(.status) else { return }
            if let problem = report.problem { throw problem }
            guard report.tier == .simulated else {
                throw Failure(
                    .storeOfAnotherTier, "\(home) is served by a daemon of tier \(report.tier.name).",
                    hint: "Choose an empty folder.")
            }
            Output.write("Simulated daemon, process \(report.processID), store \(report.storePath)\n")
        } catch {
            throw .failure(error)
        }
    }

    /// Another boot: the next call starts the daemon again.
    private static func restart(_ options: Options) throws(CommandFailure) {
        try send(.restart, options)
        try stop()
    }

    /// The recovery code that a prompt showed last.
    private static func showCode(_ options: Options) throws(CommandFailure) {
        let reply: Reply
        do throws(Failure) {
            reply = try Client.command.call(.simulate(.tellCode))
        } catch {
            throw .failure(error)
        }
        guard case .transcript(let lines) = reply, let code = lines.first else {
            throw .failure(Failure(.itemNotFound, "No prompt has shown a recovery code since the daemon was started."))
        }
        Output.write(options.isJSON ? JSON.object([("code", .text(code))]).line + "\n" : code + "\n")
    }

    private static func transcript(_ options: Options) throws(CommandFailure) {
        let reply: Reply
        do throws(Failure) {
            reply = try Client.command.call(.transcript)
        } catch {
            throw .failure(error)
        }
        guard case .transcript(let lines) = reply else { return }
        if options.isJSON { return Output.write(JSON.array(lines.map { .text($0) }).line + "\n") }
        for line in lines { Output.write(Table.text([[line]])) }
    }

    private static func stop() throws(CommandFailure) {
        do throws(Failure) {
            guard case .status(let report) = try Client.command.call(.status) else { return }
            guard report.tier == .simulated else {
                throw Failure(.notPermitted, "The daemon is not a simulated one; it ends by itself when idle.")
            }
            kill(report.processID, SIGTERM)
        } catch {
            throw .failure(error)
        }
    }
}
