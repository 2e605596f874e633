// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySystem

/// The fingerprint readers of the machine and the fingers of the user on them, as `latchkey-fingerprint` lists them.
package struct FingerFacts: Equatable, Sendable {
    package var readers: [FingerprintReader]?

    package init(_ readers: [FingerprintReader]?) { self.readers = readers }

    /// Asks the program, unless the daemon has another sensor or is simulated. Also if it has none: somebody who enrolled a
    /// finger expects that it is used.
    init(program: String?, _ report: StatusReport?, seconds: Int64) {
        guard let program, let report, [.touchID, .none].contains(report.biometry), report.tier != .simulated else {
            readers = nil
            return
        }
        readers = Self.readers(program, seconds: seconds)
    }

    /// The readers that the program lists; nil if it fails, or does not answer in time.
    static func readers(_ program: String, seconds: Int64) -> [FingerprintReader]? {
        ProgramOutput.lines(program, ["list", "--plain"], seconds: seconds).map { lines in
            FingerprintReader.readers(
                lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) })
        }
    }

    /// Whether a finger is enrolled on a reader.
    var hasFingers: Bool { readers?.contains { !$0.fingers.isEmpty } ?? false }

    /// The readers and their fingers; nil if nothing is known.
    var text: String? {
        guard let readers, !readers.isEmpty else { return nil }
        return readers.map { reader in
            reader.fingers.isEmpty ? reader.name : "\(reader.name): \(reader.fingers.joined(separator: ", "))"
        }.joined(separator: "; ")
    }
}

extension DoctorRow {
    /// The row of a part that a sensor needs: no optional part while that sensor cannot be used.
    package func needed(by sensor: DoctorRow) -> DoctorRow {
        guard sensor.state == .attention, state == .absent else { return self }
        return DoctorRow(name, .attention, found, hint)
    }

    /// The sensor and its enrolled fingers or faces.
    package static func sensor(_ report: StatusReport?, _ facts: FingerFacts = FingerFacts(nil)) -> DoctorRow {
        let name = "sensor"
        guard let report else { return unknown(name) }
        guard report.biometry != .none else {
            guard facts.hasFingers else {
                return DoctorRow(name, .absent, "none; see the rows sensor program, fprintd and login session")
            }
            return DoctorRow(
                name, .attention,
                "none, although a finger is enrolled; see the rows sensor program, fprintd and login session"
            )
        }
        guard report.isEnrolled else {
            let hint = Hint(report.tier == .simulated ? "latchkey sim enroll" : "latchkey fingerprint enroll")
            guard let text = facts.text else {
                return DoctorRow(name, .attention, "\(report.biometry), nothing enrolled", hint)
            }
            return DoctorRow(name, .attention, "\(report.biometry), nothing enrolled on \(text)", hint)
        }
        guard !report.isBiometryLocked else {
            return DoctorRow(
                name, .attention, "\(report.biometry), locked after failed tries", .init("latchkey passcode check"))
        }
        guard !report.isBiometryVirtual else {
            // Programs get what they ask for: the daemon reports a virtual sensor only where an administrator has allowed it.
            return DoctorRow(
                name, .attention, "\(report.biometry), enrolled, virtual: a program, which decides what it matches",
                isWeak: true)
        }
        guard let text = facts.text else { return DoctorRow(name, .ok, "\(report.biometry), enrolled") }
        return DoctorRow(name, .ok, "\(report.biometry), enrolled on \(text)")
    }
}

/// A fingerprint reader and the fingers of the user on it, as `latchkey-fingerprint list --plain` writes them.
package struct FingerprintReader: Equatable, Sendable {
    package var name: String
    /// Whether the finger is swiped over the reader, not placed on it.
    package var isSwiped = false
    package var path = ""
    package var fingers: [String] = []

    /// The readers of those records, in their order. Other records are ignored.
    ///
    /// - Parameter records: the fields of each line.
    package static func readers(_ records: [[String]]) -> [FingerprintReader] {
        var readers: [FingerprintReader] = []
        for fields in records {
            switch (fields.first, fields.count) {
            case ("reader"?, 4):
                readers.append(FingerprintReader(name: fields[1], isSwiped: fields[2] == "swipe", path: fields[3]))
            case ("finger"?, 2) where !readers.isEmpty: readers[readers.count - 1].fingers.append(fields[1])
            default: break
            }
        }
        return readers
    }
}
