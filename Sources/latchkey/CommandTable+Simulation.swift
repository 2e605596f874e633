// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutSimulation = """
        A simulated daemon serves the folder that LATCHKEY_HOME names. What a person does waits in line until a prompt can
        take it.
        """

    private static let other = CommandOption(.other, "with a finger or a face that is not enrolled")
    private static let device = CommandArgument("DEVICE", .choice(["watch", "mac", "vision"]))

    /// A verb that is one command of the script.
    private static func verb(
        _ name: String, _ summary: String, _ options: [CommandOption] = [],
        command: @escaping @Sendable (Options) throws(CommandFailure) -> SimulatorCommand
    ) -> CommandEntry {
        CommandEntry("sim " + name, summary, [], options) { (options) throws(CommandFailure) in
            try Simulation.send(try command(options), options)
        }
    }

    /// A verb with one argument.
    private static func verb(
        _ name: String, _ summary: String, _ argument: CommandArgument,
        command: @escaping @Sendable (String) throws(CommandFailure) -> SimulatorCommand
    ) -> CommandEntry {
        CommandEntry("sim " + name, summary, [argument]) { (options) throws(CommandFailure) in
            try Simulation.send(try command(options.arguments[0]), options)
        }
    }

    static let simulation: [CommandEntry] = machine + person + surroundings

    private static let machine = [
        CommandEntry(
            "sim start", "start a simulated daemon in $LATCHKEY_HOME", [],
            [CommandOption(.ready, "enrol a finger and set the passcode 1234, where there is none")], takesJSON: false,
            action: Simulation.start),
        CommandEntry("sim stop", "end it", takesJSON: false, action: Simulation.stop),
        CommandEntry("sim restart", "start the machine again: another boot", action: Simulation.restart),
        verb(
            "sensor", "build in none, touch, face or optic",
            CommandArgument("KIND", .choice(Simulation.sensors.map(\.0)))
        ) { (name) throws(CommandFailure) in .sensor(Simulation.value(name, Simulation.sensors) ?? .none) },
        verb("enrol", "enrol one more finger") { _ in .enrol },
        verb("unenrol", "forget every enrolled finger") { _ in .unenrol },
        verb("replace", "replace a finger by another") { _ in .replaceFinger },
        CommandEntry(
            "sim passcode", "set, change or remove the passcode",
            [CommandArgument("VERB", .choice(["set", "change", "remove"]))]
        ) { (options) throws(CommandFailure) in
            try Passcode.run(options.arguments[0], options)
        },
        verb("accept-any", "take whatever is typed for the passcode", CommandArgument("STATE", .choice(["on", "off"])))
        {
            .acceptAnyPasscode($0 == "on")
        },
        verb("advance", "move the clock on", CommandArgument("SECONDS")) { (word) throws(CommandFailure) in
            guard let seconds = UInt64(word) else {
                throw .usage("advance takes seconds, not \(word)", "See: latchkey help sim advance")
            }
            return .advance(seconds: seconds)
        },
        CommandEntry("sim transcript", "show what happened", action: Simulation.transcript),
    ]

    private static let person = [
        verb("touch", "touch the sensor with the enrolled finger", [other]) { .touch(matching: !$0.has(.other)) },
        verb("look", "the same, for a camera", [other]) { .touch(matching: !$0.has(.other)) },
        verb("enter", "type a passcode (from standard input) into the next prompt") { (_) throws(CommandFailure) in
            .enter(try Input.passcodes(["Passcode: "], repeatsLast: false)[0])
        },
        verb("fallback", "choose the other way") { _ in .fallback },
        verb("cancel", "cancel the prompt") { _ in .cancel },
        verb("acknowledge", "confirm that the recovery code is written down") { _ in .acknowledgeCode },
        verb("enter-code", "type a recovery code (from standard input) into the next prompt") {
            (_) throws(CommandFailure) in
            .enterCode(try Input.passcodes(["Recovery code: "], repeatsLast: false)[0])
        },
        CommandEntry("sim code", "print the recovery code that was shown last", action: Simulation.showCode),
        verb("face", "answer an app that asks to use Face ID", CommandArgument("ANSWER", .choice(["allow", "deny"]))) {
            .permission($0 == "allow")
        },
        verb("confirm", "confirm on the paired device") { _ in .confirm },
        verb("reset", "drop actions that no prompt has taken") { _ in .reset },
    ]

    private static let surroundings = [
        verb("lock", "lock the device") { _ in .lock },
        verb("unlock", "unlock it by the finger", [CommandOption(.other, "by the passcode")]) {
            .unlock(byBiometry: !$0.has(.other))
        },
        verb("pair", "pair a device and bring it near", device) { .pair(Simulation.companion($0)) },
        verb("unpair", "forget it", device) { .unpair(Simulation.companion($0)) },
        verb("near", "bring it near", device) { .nearby(Simulation.companion($0), true) },
        verb("far", "take it away", device) { .nearby(Simulation.companion($0), false) },
        verb("background", "put apps behind") { _ in .background(true) },
        verb("foreground", "bring them back") { _ in .background(false) },
        verb(
            "fail", "let something go wrong once: a full disk, a missing entitlement, a sensor that gives up",
            CommandArgument("FAULT", .choice(Simulation.faults.map(\.0)))
        ) { .fail(Simulation.value($0, Simulation.faults) ?? .sensor) },
    ]
}
