// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The state of a simulated machine that outlives its process.
package struct WorldState: Equatable, Sendable {
    package var sensor: BiometryKind
    /// The random identifier of the enrolment set; empty if nothing is enrolled.
    package var enrolment: [UInt8]
    /// Nanoseconds by which the clock was advanced.
    package var clockOffset: Int64
    /// How many times the machine was restarted.
    package var boots: UInt64 = 0
    /// How the simulated person answers prompts.
    package var answers: SimulatedAnswers = .byRule

    package init(sensor: BiometryKind = .touchID, enrolment: [UInt8] = [], clockOffset: Int64 = 0) {
        (self.sensor, self.enrolment, self.clockOffset) = (sensor, enrolment, clockOffset)
    }

    /// The state as lines of `key = value`.
    package var text: String {
        let set = enrolment.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        return """
            sensor = \(sensor)
            enrolment = \(set.joined())
            clock_offset_ns = \(clockOffset)
            boots = \(boots)
            answers = \(answers)

            """
    }

    /// Reads lines of `key = value`; throws for any other line.
    package init(text: String) throws(Failure) {
        var state = WorldState()
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw WorldState.malformed }
            let value = String(parts[1]).filter { $0 != " " }
            switch String(parts[0]).filter({ $0 != " " }) {
            case "sensor":
                guard let kind = BiometryKind.allCases.first(where: { "\($0)" == value }) else {
                    throw WorldState.malformed
                }
                state.sensor = kind
            case "enrolment": state.enrolment = try WorldState.bytes(value)
            case "clock_offset_ns":
                guard let offset = Int64(value) else { throw WorldState.malformed }
                state.clockOffset = offset
            case "boots":
                guard let boots = UInt64(value) else { throw WorldState.malformed }
                state.boots = boots
            case "answers":
                guard let answers = SimulatedAnswers.allCases.first(where: { "\($0)" == value }) else {
                    throw WorldState.malformed
                }
                state.answers = answers
            default: throw WorldState.malformed
            }
        }
        self = state
    }

    private static var malformed: Failure {
        Failure(
            .storeUnreadable, "simulator.state cannot be read.",
            hint: "Remove the file to begin with a new simulated machine.")
    }

    private static func bytes(_ text: String) throws(Failure) -> [UInt8] {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { throw malformed }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { throw malformed }
            bytes.append(byte)
        }
        return bytes
    }
}
