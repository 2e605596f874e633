// SPDX-License-Identifier: Apache-2.0

import FprintDriver
package import LatchkeyModel
import LatchkeySeams
package import SystemBus

/// `latchkey fingerprint`: enrols, lists, deletes and tries the fingers of the calling user.
package struct FingerprintCommand: Sendable {
    /// What the command needs of its process.
    package struct Surroundings: Sendable {
        package var bus: SystemBus
        package var account: String
        package var userID: UInt32
        /// The user to which the name of fprintd must belong; root outside tests.
        package var trustedUser: UInt32 = 0
        /// Writes a text for the person.
        package var write: @Sendable (String) -> Void
        /// Asks for a line of text; nil without a terminal or at the end of the input.
        package var ask: @Sendable (String) -> String?
        /// Whether lines can be replaced.
        package var isTerminal = false

        package init(
            bus: SystemBus, account: String, userID: UInt32, write: @escaping @Sendable (String) -> Void,
            ask: @escaping @Sendable (String) -> String?
        ) {
            self.bus = bus
            self.account = account
            self.userID = userID
            self.write = write
            self.ask = ask
        }
    }

    package static let usage = """
        usage: latchkey fingerprint list
               latchkey fingerprint enroll [FINGER] [--replace]
               latchkey fingerprint delete FINGER | --all [--yes]
               latchkey fingerprint verify

        FINGER is left- or right- with thumb, index-finger, middle-finger, ring-finger or little-finger.

        """

    private let surroundings: Surroundings
    private let fingers: FprintFingers

    package init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        fingers = FprintFingers(
            surroundings.bus, account: surroundings.account, trustedUser: surroundings.trustedUser, log: UnwatchedLog())
    }

    /// Runs the command.
    ///
    /// - Throws: `invalidParameter` for a command line that is not understood; otherwise what happened.
    package func run(_ arguments: [String]) throws(Failure) {
        let options = Set(arguments.dropFirst().filter { $0.hasPrefix("--") })
        let names = arguments.dropFirst().filter { !$0.hasPrefix("--") }
        let isPlain = options.contains("--plain")
        let (allowed, most): (Set<String>, Int)
        switch arguments.first {
        case "list": (allowed, most) = (["--plain"], 0)
        case "verify": (allowed, most) = ([], 0)
        case "enroll": (allowed, most) = (["--replace", "--plain"], 1)
        case "delete": (allowed, most) = (["--all", "--yes"], 1)
        default: throw Self.misused
        }
        guard options.isSubset(of: allowed), names.count <= most else { throw Self.misused }
        if let name = names.first, !FprintFingers.names.contains(name) {
            throw Failure(
                .invalidParameter, "There is no finger \(name).",
                hint: "Use one of: \(FprintFingers.names.joined(separator: ", "))")
        }
        switch arguments.first {
        case "list" where isPlain: try listPlainly()
        case "list": try list()
        case "verify": try verify()
        case "enroll":
            try enroll(names.first ?? "right-index-finger", mayReplace: options.contains("--replace"), isPlain: isPlain)
        default:
            guard (names.first == nil) == options.contains("--all") else { throw Self.misused }
            try delete(names.first, isSure: options.contains("--yes"))
        }
    }

    private static let misused = Failure(.invalidParameter, "The command line is not understood.", hint: usage)

    // MARK: - Commands

    private func reader() throws(Failure) -> FprintFingers.Reader {
        // Several readers are rare, and the first one is the one that other programs use too.
        guard let reader = try fingers.readers().first else {
            throw Failure(
                .biometryNotAvailable, "There is no fingerprint reader.",
                hint: "fprintd supports the readers of https://fprint.freedesktop.org/supported-devices.html")
        }
        return reader
    }

    private func list() throws(Failure) {
        let reader = try reader()
        guard !reader.fingers.isEmpty else {
            return surroundings.write("No finger is enrolled on \(reader.name).\n")
        }
        for finger in FprintFingers.names where reader.fingers.contains(finger) { surroundings.write(finger + "\n") }
    }

    /// For programs: a record for the reader and for each finger, whose fields are separated by tabs. No record without
    /// a reader.
    private func listPlainly() throws(Failure) {
        guard let reader = try fingers.readers().first else { return }
        // The name is text of the device, and must not look like another record.
        let name = String(reader.name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) })
        surroundings.write("reader\t\(name)\t\(reader.isSwiped ? "swipe" : "press")\n")
        for finger in FprintFingers.names where reader.fingers.contains(finger) {
            surroundings.write("finger\t\(finger)\n")
        }
    }

    private func delete(_ finger: String?, isSure: Bool) throws(Failure) {
        let reader = try reader()
        if let finger, !reader.fingers.contains(finger) {
            throw Failure(
                .itemNotFound, "Your \(Self.words(finger)) is not enrolled.", hint: "See: latchkey fingerprint list")
        }
        try confirm(
            isSure, word: "delete",
            (finger.map { "Your \(Self.words($0))" } ?? "Every finger") + " is deleted. "
                + Self.bound)
        try fingers.delete(finger, on: reader)
        surroundings.write("Deleted.\n")
    }

    private func enroll(_ finger: String, mayReplace: Bool, isPlain: Bool) throws(Failure) {
        let reader = try reader()
        let name = Self.words(finger)
        // A program shows its own texts.
        let say: (String) -> Void = { [surroundings] text in if !isPlain { surroundings.write(text) } }
        if reader.fingers.contains(finger) {
            guard !isPlain || mayReplace else {
                throw Failure(.duplicateItem, "Your \(name) is enrolled already.", hint: "Add --replace.")
            }
            if !isPlain {
                try confirm(
                    mayReplace, word: "replace",
                    "Your \(name) is enrolled already. Its print is deleted before the new one is scanned: if you stop "
                        + "before the end, none remains. " + Self.bound)
            }
        } else if !reader.fingers.isEmpty {
            say(Self.bound + "\n")
        }
        say("\(reader.isSwiped ? "Swipe" : "Touch") the reader with your \(name): \(reader.name)\n")
        let picture = EnrolPicture(
            isPlain ? .records : surroundings.isTerminal ? .terminal : .lines, isSwiped: reader.isSwiped,
            surroundings.write)
        try fingers.enrol(finger, on: reader) { picture.show($0, stages: $1) }
        say("Your \(name) is enrolled.\n")
    }

    private func verify() throws(Failure) {
        _ = try reader()
        let reader = FprintReader(
            surroundings.bus, templates: nil, trustedUser: surroundings.trustedUser, log: UnwatchedLog())
        guard reader.state(for: surroundings.userID).enrolment != nil else {
            throw Failure(
                .biometryNotEnrolled, "No finger is enrolled.", hint: "Enrol one with: latchkey fingerprint enroll")
        }
        surroundings.write("Touch the reader.\n")
        let outcome = Answer<SensorEvent>()
        reader.arm(1, user: surroundings.userID) { [surroundings] event in
            switch event {
            case .guidance(let guidance): surroundings.write(EnrolPicture.sentence(guidance) + "\n")
            case .inUse(true): surroundings.write("Another program is using the reader.\n")
            case .inUse(false): surroundings.write("Touch the reader.\n")
            case .match, .noMatch, .failed, .disconnected: outcome.set(event)
            }
        }
        let event = outcome.wait() ?? .failed
        reader.disarm(1)
        switch event {
        case .match: surroundings.write("Recognised.\n")
        case .noMatch: throw Failure(.authenticationFailed, "Not recognised.")
        case .disconnected: throw Failure(.biometryDisconnected, "The reader was disconnected.")
        case .failed, .guidance, .inUse:
            throw Failure(
                .biometryNotAvailable, "The reader did not recognise a finger in time, or failed.",
                hint: "See: systemctl status fprintd")
        }
    }

    // MARK: - Texts

    private static let bound =
        "Items that are bound to the fingers enrolled now (rule current-set) are lost with this change."

    /// Asks for a word before something is deleted.
    private func confirm(_ isSure: Bool, word: String, _ text: String) throws(Failure) {
        surroundings.write(text + "\n")
        if isSure { return }
        guard surroundings.ask("Type \(word) to continue: ") == word else {
            throw Failure(.userCancel, "\(word) was not typed.", hint: "Nothing was changed.")
        }
    }

    private static func words(_ finger: String) -> String {
        finger.split(separator: "-").joined(separator: " ")
    }
}
