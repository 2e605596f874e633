// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// sim: controls the machine of a simulated daemon.
enum Simulation {
    /// The arguments of `sim sensor`, and below those of `sim guide`, `sim answer`, `sim choose` and `sim fail`.
    static let sensors: [(String, BiometryKind)] = [
        ("none", .none), ("touch", .touchID), ("face", .faceID), ("optic", .opticID),
    ]
    static let guidance: [(String, SensorGuidance)] = [
        ("again", .scanAgain), ("short", .swipeTooShort), ("centre", .fingerNotCentred), ("remove", .removeAndRetry),
        ("fast", .tooFast),
    ]
    static let answers: [(String, SimulatedAnswers)] = [("always", .always), ("never", .never), ("by-rule", .byRule)]
    static let choices = SecretAnswer.allCases.map { ($0.rawValue, $0) }
    static let faults: [(String, SimulatedFailure)] = [
        ("disk", .diskFull), ("entitlement", .missingEntitlement), ("sensor", .sensor),
    ]

    /// The value of a name; the table of commands accepts no other name.
    static func value<Value>(_ name: String, _ names: [(String, Value)]) -> Value? { names.first { $0.0 == name }?.1 }

    private static func call<Call: DaemonRequest>(_ request: Call) throws(CommandFailure) -> Call.Response {
        try failing { () throws(Failure) in
            try requireSimulated()
            return try Client.command.call(request)
        }
    }

    static func send(_ command: SimulatorCommand, _ options: Options) throws(CommandFailure) {
        guard case .delivered(let delivered) = try call(Request.Simulate(command)) else {
            if options.isJSON { Output.write("{}\n") }
            if command == .enroll { try adviseAboutPasscode() }
            return
        }
        let words = delivered ? localized("A prompt used it.") : localized("Queued for the next prompt.")
        Output.write(options.isJSON ? JSON.object([("delivered", .boolean(delivered))]).line + "\n" : words + "\n")
    }

    /// Throws unless `sim start` has made the folder one of a simulated daemon, which is started again after it was idle.
    /// In another folder the call would start a daemon of tier `user` and make its store there.
    ///
    /// - Parameter acceptsRunning: whether a daemon that runs is asked in any case; one of another tier refuses.
    private static func requireSimulated(acceptsRunning: Bool = true) throws(Failure) {
        let folder = try StoreLocation.folder()
        let file = folder + "/latchkeyd.conf"
        let bytes: SecretBytes?
        do throws(SystemError) { bytes = try Files.read(file, limit: 64 << 10) } catch {
            throw Failure(error, "\(file) cannot be read")
        }
        let lock = folder + "/" + DaemonLock.fileName
        if acceptsRunning, Files.exists(lock), DaemonLock.isTaken(try DaemonLock.open(folder)) { return }
        let lines = bytes.map { ConfigurationLine.lines($0.copyBytes()) } ?? []
        guard lines.contains(where: { $0.name == "tier" && $0.value == "simulated" }) else {
            throw Failure(
                .daemonUnavailable, "\(folder) has no simulated keychain.",
                hint: "Start one: export LATCHKEY_HOME=$(mktemp -d); latchkey sim start")
        }
    }

    /// As on Apple's devices, an enrolled finger is not accepted without a passcode.
    private static func adviseAboutPasscode() throws(CommandFailure) {
        guard try failing({ () throws(Failure) in try !Client.command.status().isPasscodeSet }) else { return }
        Output.writeError(localized("Biometry is accepted once a passcode is set: latchkey passcode set\n"))
    }

    /// Starts a simulated daemon for the store in LATCHKEY_HOME. The variable is required, so that a user's own store
    /// cannot become a simulated one by mistake.
    static func start(_ options: Options) throws(CommandFailure) {
        guard let home = Environment.value("LATCHKEY_HOME") else {
            throw .usage(
                "sim start needs a folder of its own", "Run: export LATCHKEY_HOME=$(mktemp -d); latchkey sim start")
        }
        try failing { () throws(Failure) in
            let program = try DaemonProgram.find()
            do throws(SystemError) {
                let process = try Processes.spawn(
                    program, ["--simulated", "--detach"], descriptors: [nil, nil, nil], newSession: true)
                Processes.wait(process)
            } catch {
                throw Failure(.daemonUnavailable, "\(program) cannot be started: \(error.description).")
            }
            let report = try Client.command.call(Request.Status())
            if let problem = report.problem {
                // It serves nothing, and its simulated person must not seem to be there.
                if report.tier == .simulated { try Restart.endDaemon() }
                throw problem
            }
            guard report.tier == .simulated else {
                throw Failure(
                    .storeOfAnotherTier, "\(home) is served by a daemon of tier \(report.tier.name).",
                    hint: "Choose an empty folder.")
            }
            Output.write(localized("Simulated daemon, process \(report.processID), store \(report.storePath)") + "\n")
            if options.has(.ready) { try makeReady(report) }
        }
    }

    /// Adds what is missing for authentication: a sensor, an enrolled finger, the passcode 1234.
    private static func makeReady(_ report: StatusReport) throws(Failure) {
        if report.biometry == .none { _ = try Client.command.call(Request.Simulate(.sensor(.touchID))) }
        if !report.isEnrolled { _ = try Client.command.call(Request.Simulate(.enroll)) }
        if !report.isPasscodeSet { try Client.command.call(Request.PasscodeChange.set(SecretBytes("1234".utf8))) }
        let sentence =
            switch (report.isEnrolled, report.isPasscodeSet) {
            case (false, false): localized("A finger is enrolled, and the passcode is 1234.")
            case (false, true): localized("A finger is enrolled, and a passcode is set.")
            case (true, false): localized("A finger is enrolled already, and the passcode is 1234.")
            case (true, true): localized("A finger is enrolled already, and a passcode is set.")
            }
        Output.write(sentence + "\n")
    }

    /// Ends the daemon and begins another boot; the next call starts the daemon again.
    static func restart(_ options: Options) throws(CommandFailure) {
        try send(.restart, options)
        try stop(options)
    }

    /// Sets, changes or removes the passcode of the simulated person.
    static func changePasscode(_ options: Options) throws(CommandFailure) {
        do throws(Failure) { try requireSimulated(acceptsRunning: false) } catch { throw .failure(error) }
        try Passcode.run(options.arguments[0], options)
    }

    /// Writes the recovery code that a prompt showed last.
    static func showCode(_ options: Options) throws(CommandFailure) {
        guard case .reported(let lines) = try call(Request.Simulate(.reportCode)), let code = lines.first else {
            throw .failure(Failure(.itemNotFound, "No prompt has shown a recovery code since the daemon was started."))
        }
        Output.write(options.isJSON ? JSON.object([("code", .text(code))]).line + "\n" : code + "\n")
    }

    static func transcript(_ options: Options) throws(CommandFailure) {
        let lines = try call(Request.Transcript())
        if options.isJSON { return Output.write(JSON.array(lines.map { .text($0) }).line + "\n") }
        for line in lines { Output.write(Table.text([[line]])) }
    }

    static func stop(_: Options) throws(CommandFailure) {
        try failing { () throws(Failure) in
            try requireSimulated()
            let report = try Client.command.call(Request.Status())
            guard report.tier == .simulated else {
                throw Failure(.notPermitted, "The daemon is not simulated; it ends when it is idle.")
            }
            try Restart.endDaemon()
        }
    }
}
