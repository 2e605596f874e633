// SPDX-License-Identifier: Apache-2.0

import FprintDriver
package import LatchkeyModel
import LatchkeySeams
package import LatchkeyWords
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
        /// The texts for the person. With `--plain` they are not used: a program reads them.
        package var words = Words.plainEnglish

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

    private let texts: FingerprintTexts
    private let surroundings: Surroundings
    private let fingers: FprintFingers

    package init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        texts = FingerprintTexts(surroundings.words)
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
        case "delete": (allowed, most) = (["--all", "--yes", "--plain"], 1)
        default: throw texts.misused
        }
        guard options.isSubset(of: allowed), names.count <= most else { throw texts.misused }
        if let name = names.first, !FprintFingers.names.contains(name) {
            throw texts.unknownFinger(name)
        }
        switch arguments.first {
        case "list" where isPlain: try listPlainly()
        case "list": try list()
        case "verify": try verify()
        case "enroll":
            try enroll(names.first ?? "right-index-finger", mayReplace: options.contains("--replace"), isPlain: isPlain)
        default:
            guard (names.first == nil) == options.contains("--all") else { throw texts.misused }
            try delete(names.first, isSure: options.contains("--yes"))
        }
    }

    // MARK: - Commands

    private func reader() throws(Failure) -> FprintFingers.Reader {
        // Several readers are rare, and the first one is the one that other programs use too.
        guard let reader = try fingers.readers().first else {
            throw texts.noReader
        }
        return reader
    }

    private func list() throws(Failure) {
        let reader = try reader()
        guard !reader.fingers.isEmpty else {
            return surroundings.write(texts.none(on: reader.name) + "\n")
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
            throw texts.notEnrolled(finger)
        }
        try confirm(isSure, word: "delete", texts.deletion(of: finger))
        try fingers.delete(finger, on: reader)
        surroundings.write(texts.deleted + "\n")
    }

    private func enroll(_ finger: String, mayReplace: Bool, isPlain: Bool) throws(Failure) {
        let reader = try reader()
        // A program shows its own texts.
        let say: (String) -> Void = { [surroundings] text in if !isPlain { surroundings.write(text) } }
        if reader.fingers.contains(finger) {
            guard !isPlain || mayReplace else {
                throw texts.enrolledAlready(finger)
            }
            if !isPlain { try confirm(mayReplace, word: "replace", texts.replacement(of: finger)) }
        } else if !reader.fingers.isEmpty {
            say(texts.consequence + "\n")
        }
        say(texts.begin(finger, on: reader) + "\n")
        let picture = EnrolPicture(
            isPlain ? .records : surroundings.isTerminal ? .terminal : .lines, texts,
            isSwiped: reader.isSwiped, surroundings.write)
        try fingers.enrol(finger, on: reader) { picture.show($0, stages: $1) }
        say(texts.enrolled(finger) + "\n")
    }

    private func verify() throws(Failure) {
        _ = try reader()
        let reader = FprintReader(
            surroundings.bus, templates: nil, trustedUser: surroundings.trustedUser, log: UnwatchedLog())
        guard reader.state(for: surroundings.userID).enrolment != nil else {
            throw texts.noneEnrolled
        }
        surroundings.write(texts.touch + "\n")
        let outcome = Answer<SensorEvent>()
        reader.arm(1, user: surroundings.userID) { [surroundings, texts] event in
            switch event {
            case .guidance(let guidance): surroundings.write(texts.sentence(guidance) + "\n")
            case .inUse(true): surroundings.write(texts.inUse + "\n")
            case .inUse(false): surroundings.write(texts.touch + "\n")
            case .match, .noMatch, .failed, .disconnected: outcome.set(event)
            }
        }
        let event = outcome.wait() ?? .failed
        reader.disarm(1)
        switch event {
        case .match: surroundings.write(texts.recognised + "\n")
        case .noMatch: throw texts.notRecognised
        case .disconnected: throw texts.disconnected
        case .failed, .guidance, .inUse: throw texts.failed
        }
    }

    /// Asks for a word before something is deleted.
    private func confirm(_ isSure: Bool, word: String, _ text: String) throws(Failure) {
        surroundings.write(text + "\n")
        if isSure { return }
        guard surroundings.ask(texts.question(word)) == word else { throw texts.notTyped(word) }
    }
}
