// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// passcode set | change | remove | check: the passcode of tiers user and simulated.
enum Passcode {
    static func run(_ options: Options) throws(CommandFailure) {
        guard options.arguments.count == 1 else {
            throw .usage("passcode takes set, change, remove or check", "See: latchkey passcode --help")
        }
        try run(options.arguments[0], options)
    }

    /// Carries out one of the verbs.
    static func run(_ verb: String, _ options: Options) throws(CommandFailure) {
        let change: Request.PasscodeChange
        switch verb {
        case "set":
            change = .set(try Input.passcodes(["New passcode: "], repeatsLast: true)[0])
        case "change":
            let both = try Input.passcodes(["Passcode now: ", "New passcode: "], repeatsLast: true)
            change = .change(old: both[0], new: both[1])
        case "remove":
            change = .remove(try Input.passcodes(["Passcode now: "], repeatsLast: false)[0])
        case "check":
            // Proving it puts the same passcode into place again, which ends a lockout.
            let known = try Input.passcodes(["Passcode: "], repeatsLast: false)[0]
            change = .change(old: known, new: known)
        default: throw .usage("unknown: passcode \(verb)", "See: latchkey passcode --help")
        }
        do throws(Failure) {
            _ = try Client.command.call(.passcode(change))
        } catch {
            throw .failure(error)
        }
        let done = ["set": "set", "change": "changed", "remove": "removed", "check": "right"][verb] ?? verb
        Output.write(
            options.isJSON
                ? JSON.object([("passcode", .text(done))]).line + "\n" : "The passcode is \(done).\n")
    }
}
