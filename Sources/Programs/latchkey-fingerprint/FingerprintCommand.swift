// SPDX-License-Identifier: Apache-2.0

package import BusDrivers
package import LatchkeyModel
import LatchkeySeams
package import LatchkeyWords

/// `latchkey fingerprint`: enrols, lists, deletes and tries the fingers of the calling user.
package struct FingerprintCommand: Sendable {
    /// What the command needs of its process.
    package struct Surroundings: Sendable {
        package var bus: SystemBus
        package var account: String
        package var userID: UInt32
        /// The user to which the name of fprintd must belong; root outside tests.
        package var trustedUser: UInt32 = 0
        /// The limits of waiting; others in tests only.
        package var timing = FprintReader.Timing()
        /// Writes a text for the person.
        package var write: @Sendable (String) -> Void
        /// Asks for a line of text; nil without a terminal or at the end of the input.
        package var ask: @Sendable (String) -> String?
        /// Whether lines can be replaced.
        package var isTerminal = false
        /// The texts for the person. With `--plain` they are not used: a program reads them.
        package var words = Words.plainEnglish
    }

    private let texts: FingerprintTexts
    private let surroundings: Surroundings
    private let fingers: FprintFingers

    package init(_ surroundings: Surroundings) {
        self.surroundings = surroundings
        texts = FingerprintTexts(surroundings.words)
        fingers = FprintFingers(
            surroundings.bus, account: surroundings.account, trustedUser: surroundings.trustedUser,
            timing: surroundings.timing, log: UnwatchedLog())
    }

    /// What a command line says.
    private struct Line {
        var flags: Set<String> = []
        var reader: String?
        /// For programs: the path that the list gave for the reader of this name.
        var path: String?
        var finger: String?
        var isPlain: Bool { flags.contains("--plain") }
        var isJSON: Bool { flags.contains("--json") }
    }

    /// Runs the command.
    ///
    /// - Throws: `invalidParameter` for a command line that is not understood; otherwise what happened.
    package func run(_ arguments: [String]) throws(Failure) {
        let line = try parse(arguments.dropFirst())
        let (allowed, takesFinger, takesReader): (Set<String>, Bool, Bool)
        switch arguments.first {
        case "list": (allowed, takesFinger, takesReader) = (["--plain", "--json"], false, false)
        case "verify": (allowed, takesFinger, takesReader) = ([], false, false)
        case "enroll": (allowed, takesFinger, takesReader) = (["--replace", "--plain"], true, true)
        case "delete": (allowed, takesFinger, takesReader) = (["--all", "--yes", "--plain"], true, true)
        default: throw texts.misused
        }
        guard line.flags.isSubset(of: allowed), takesFinger || line.finger == nil, takesReader || line.reader == nil,
            line.path == nil || line.reader != nil && line.isPlain, !line.isPlain || !line.isJSON
        else { throw texts.misused }
        if let name = line.finger, !FprintFingers.names.contains(name) { throw texts.unknownFinger(name) }
        switch arguments.first {
        case "list" where line.isPlain: try listPlainly()
        case "list" where line.isJSON: try listJSON()
        case "list": try list()
        case "verify": try verify()
        case "enroll": try enroll(line.finger ?? "right-index-finger", line)
        default:
            guard (line.finger == nil) == line.flags.contains("--all") else { throw texts.misused }
            try delete(line.finger, line)
        }
    }

    private func parse(_ arguments: ArraySlice<String>) throws(Failure) -> Line {
        var line = Line()
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--reader":
                guard line.reader == nil, let name = rest.popFirst() else { throw texts.misused }
                line.reader = name
            case "--path":
                guard line.path == nil, let path = rest.popFirst() else { throw texts.misused }
                line.path = path
            case let flag where flag.hasPrefix("--"): line.flags.insert(flag)
            default:
                guard line.finger == nil else { throw texts.misused }
                line.finger = argument
            }
        }
        return line
    }

    // MARK: - Commands

    private func readers() throws(Failure) -> [FprintFingers.Reader] {
        let readers = try fingers.readers()
        guard !readers.isEmpty else { throw texts.noReader }
        return readers
    }

    /// The reader of a name, or of a number in the list; without either, one that has the finger, else the first one.
    private func reader(_ line: Line, with finger: String?) throws(Failure) -> FprintFingers.Reader {
        let readers = try readers()
        if let path = line.path {
            // A reader that was unplugged since the list was made must not be replaced by another one: of the same product
            // on another path, or of another product on the path, which fprintd gives again after it was restarted.
            guard let reader = readers.first(where: { $0.path == path && $0.name == line.reader }) else {
                throw texts.disconnected
            }
            return reader
        }
        guard let name = line.reader else {
            return readers.first { finger.map($0.fingers.contains) ?? false } ?? readers[0]
        }
        let named = readers.filter { $0.name == name }
        if named.count == 1 { return named[0] }
        // Two readers of one product have the same name.
        guard let number = Int(name), readers.indices.contains(number - 1) else {
            throw texts.unknownReader(name, Self.numbered(readers))
        }
        return readers[number - 1]
    }

    private static func numbered(_ readers: [FprintFingers.Reader]) -> [String] {
        readers.enumerated().map { "\($0.offset + 1)  \($0.element.name)" }
    }

    /// The names that are known, in their usual order.
    private static func sorted(_ fingers: [String]) -> [String] { FprintFingers.names.filter(fingers.contains) }

    /// How a finger is scanned, as fprintd names it.
    private static func scan(_ reader: FprintFingers.Reader) -> String { reader.isSwiped ? "swipe" : "press" }

    private func list() throws(Failure) {
        let readers = try readers()
        for (reader, heading) in zip(readers, Self.numbered(readers)) {
            guard readers.count > 1 || !reader.fingers.isEmpty else {
                return surroundings.write(texts.none(on: reader.name) + "\n")
            }
            if readers.count > 1 { surroundings.write(heading + "\n") }
            for finger in Self.sorted(reader.fingers) {
                surroundings.write((readers.count > 1 ? "   " : "") + finger + "\n")
            }
        }
    }

    /// For programs: a record for each reader, followed by one for each finger on it, whose fields are separated by tabs.
    private func listPlainly() throws(Failure) {
        for reader in try fingers.readers() {
            // Neither the name nor the path has a tab or the end of a line, which would look like another record.
            surroundings.write("reader\t\(reader.name)\t\(Self.scan(reader))\t\(reader.path)\n")
            for finger in Self.sorted(reader.fingers) { surroundings.write("finger\t\(finger)\n") }
        }
    }

    /// Writes an array of readers. Without a reader it is empty, and the command fails as it does without `--json`.
    private func listJSON() throws(Failure) {
        let readers = try fingers.readers()
        let rows = readers.enumerated().map { index, reader in
            JSON.object([
                ("number", .number(Int64(index + 1))), ("name", .text(reader.name)),
                ("scan", .text(Self.scan(reader))),
                ("fingers", .array(Self.sorted(reader.fingers).map { .text($0) })),
            ])
        }
        surroundings.write(JSON.array(rows).line + "\n")
        if readers.isEmpty { throw texts.noReader }
    }

    /// Deletes a finger, or every finger: of a named reader, else of all readers.
    private func delete(_ finger: String?, _ line: Line) throws(Failure) {
        let chosen = finger == nil && line.reader == nil ? try readers() : [try reader(line, with: finger)]
        if let finger, !chosen[0].fingers.contains(finger) { throw texts.notEnrolled(finger) }
        try confirm(line.flags.contains("--yes"), word: "delete", texts.deletion(of: finger))
        for reader in chosen where chosen.count == 1 || !reader.fingers.isEmpty {
            try fingers.delete(finger, on: reader)
        }
        surroundings.write(texts.deleted + "\n")
    }

    private func enroll(_ finger: String, _ line: Line) throws(Failure) {
        let reader = try reader(line, with: finger)
        let (mayReplace, isPlain) = (line.flags.contains("--replace"), line.isPlain)
        // A program shows its own texts.
        let say: (String) -> Void = { [surroundings] text in if !isPlain { surroundings.write(text) } }
        if reader.fingers.contains(finger) {
            guard !isPlain || mayReplace else { throw texts.enrolledAlready(finger) }
            if !isPlain { try confirm(mayReplace, word: "replace", texts.replacement(of: finger)) }
        } else if !reader.fingers.isEmpty {
            say(texts.consequence + "\n")
        }
        say(texts.begin(finger, on: reader) + "\n")
        let picture = EnrolPicture(
            isPlain ? .records : surroundings.isTerminal ? .terminal : .lines, texts,
            isSwiped: reader.isSwiped, surroundings.write)
        try fingers.enroll(finger, on: reader, begins: picture.begin) { picture.show($0, stages: $1) }
        say(texts.enrolled(finger) + "\n")
    }

    private func verify() throws(Failure) {
        _ = try readers()
        // What is tried here releases nothing.
        let reader = FprintReader(
            surroundings.bus, templates: nil, allowsVirtual: true, configuration: "",
            trustedUser: surroundings.trustedUser, timing: surroundings.timing, log: UnwatchedLog())
        guard reader.state(for: surroundings.userID).enrolment != nil else { throw texts.noneEnrolled }
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
