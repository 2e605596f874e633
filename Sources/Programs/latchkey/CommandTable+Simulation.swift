// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension CommandTable {
    static let aboutSimulation: Phrase = """
        A simulated daemon serves the folder that LATCHKEY_HOME names. Each action of the person waits in a queue until
        a prompt can use it. After "sim answer always" the person answers every prompt instead, after "sim answer never"
        they cancel it.
        """

    private static let other = CommandOption(.other, "with a finger or a face that is not enrolled")

    private static func verb(
        _ name: String, _ summary: Phrase, _ options: [CommandOption] = [],
        command: @escaping @Sendable (Options) throws(CommandFailure) -> SimulatorCommand
    ) -> CommandEntry {
        CommandEntry("sim " + name, summary, [], options) { (options) throws(CommandFailure) in
            try Simulation.send(try command(options), options)
        }
    }

    private static func verb(
        _ name: String, _ summary: Phrase, _ argument: CommandArgument,
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
            [CommandOption(.ready, "enroll a finger and set the passcode 1234, where there is none")], takesJSON: false,
            action: Simulation.start),
        CommandEntry("sim stop", "stop the simulated daemon", takesJSON: false, action: Simulation.stop),
        CommandEntry("sim restart", "restart the machine, which begins another boot", action: Simulation.restart),
        verb(
            "sensor", "set the sensor: none, touch, face or optic",
            CommandArgument("KIND", .choice(Simulation.sensors.map(\.0)))
        ) { (name) throws(CommandFailure) in .sensor(Simulation.value(name, Simulation.sensors) ?? .none) },
        verb("enroll", "enroll one more finger") { _ in .enroll },
        verb("unenroll", "remove every enrolled finger") { _ in .unenroll },
        verb("replace", "replace one enrolled finger with another") { _ in .replaceFinger },
        CommandEntry(
            "sim passcode", "set, change or remove the passcode",
            [CommandArgument("VERB", .choice(["set", "change", "remove"]))], action: Simulation.changePasscode),
        verb("accept-any", "accept any text as the passcode", CommandArgument("STATE", .choice(["on", "off"]))) {
            .acceptAnyPasscode($0 == "on")
        },
        verb("advance", "advance the clock", CommandArgument("SECONDS")) { (word) throws(CommandFailure) in
            guard let seconds = UInt64(word) else {
                throw .usage("advance takes seconds, not \(word)", "See: latchkey help sim advance")
            }
            return .advance(seconds: seconds)
        },
        CommandEntry("sim transcript", "show what happened", action: Simulation.transcript),
    ]

    private static let person = [
        verb(
            "answer", "answer every prompt, cancel every prompt, or answer by the queued actions",
            CommandArgument("HOW", .choice(Simulation.answers.map(\.0)))
        ) { .answer(Simulation.value($0, Simulation.answers) ?? .byRule) },
        verb("touch", "touch the sensor with the enrolled finger", [other]) { .touch(matching: !$0.has(.other)) },
        verb("look", "look into the camera with the enrolled face", [other]) { .look(matching: !$0.has(.other)) },
        verb(
            "guide", "scan in a way that the sensor cannot use: again, short, centre, remove or fast",
            CommandArgument("REASON", .choice(Simulation.guidance.map(\.0)))
        ) { .guide(Simulation.value($0, Simulation.guidance) ?? .scanAgain) },
        verb("unplug", "unplug the sensor while it scans") { _ in .unplug },
        verb("enter", "type a passcode (from standard input) into the next prompt") { (_) throws(CommandFailure) in
            .enter(try Input.passcodes([localized("Passcode: ")], repeatsLast: false)[0])
        },
        verb("fallback", "press the fallback button") { _ in .fallback },
        verb("cancel", "cancel the prompt") { _ in .cancel },
        verb("acknowledge", "confirm that the recovery code is written down") { _ in .acknowledgeCode },
        verb("enter-code", "type a recovery code (from standard input) into the next prompt") {
            (_) throws(CommandFailure) in
            .enterCode(try Input.passcodes([localized("Recovery code: ")], repeatsLast: false)[0])
        },
        verb("enter-new", "type a new passcode (from standard input) once into the next prompt") {
            (_) throws(CommandFailure) in
            .enterNewPasscode(try Input.passcodes([localized("New passcode: ")], repeatsLast: false)[0])
        },
        CommandEntry("sim code", "print the recovery code that was shown last", action: Simulation.showCode),
        verb("face", "answer an app that asks to use Face ID", CommandArgument("ANSWER", .choice(["allow", "deny"]))) {
            .permission($0 == "allow")
        },
        verb(
            "choose", "answer a program that asks to read an item of another program: once, session, always or never",
            CommandArgument("ANSWER", .choice(Simulation.choices.map(\.0)))
        ) { .choose(Simulation.value($0, Simulation.choices) ?? .never) },
        verb("reset", "remove the queued actions") { _ in .reset },
    ]

    private static let surroundings = [
        verb("lock", "lock the device") { _ in .lock },
        verb("unlock", "unlock the device with the finger", [CommandOption(.other, "with the passcode")]) {
            .unlock(byBiometry: !$0.has(.other))
        },
        verb("background", "move apps to the background") { _ in .background(true) },
        verb("foreground", "bring apps to the foreground") { _ in .background(false) },
        verb(
            "fail", "cause one failure: a full disk, a missing entitlement, a failing sensor",
            CommandArgument("FAULT", .choice(Simulation.faults.map(\.0)))
        ) { .fail(Simulation.value($0, Simulation.faults) ?? .sensor) },
    ]
}
