// SPDX-License-Identifier: Apache-2.0

import FprintDriver
import LatchkeyModel
import Synchronization

/// The picture of an enrolment: a row of circles, of which one is filled with each scan, and what to do next.
final class EnrolPicture: Sendable {
    private let isTerminal: Bool
    private let isSwiped: Bool
    private let write: @Sendable (String) -> Void
    private let passed = Mutex(0)

    init(isTerminal: Bool, isSwiped: Bool, _ write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.isSwiped = isSwiped
        self.write = write
    }

    /// Shows a result.
    func show(_ status: EnrolStatus, stages: Int?) {
        switch status {
        case .stagePassed: draw(add: 1, stages, "Lift your finger, and \(isSwiped ? "swipe" : "touch") again.")
        case .guidance(let guidance): draw(add: 0, stages, Self.sentence(guidance))
        case .completed: draw(add: 1, stages, "Done.", isLast: true)
        case .duplicate, .full, .disconnected, .failed: if isTerminal { write("\n") }
        }
    }

    private func draw(add count: Int, _ stages: Int?, _ sentence: String, isLast: Bool = false) {
        let passed = passed.withLock { passed in
            passed += count
            return passed
        }
        // A reader that looks for duplicates has one scan more than it says.
        let total = isLast ? passed : max(stages ?? 0, passed + 1)
        let circles = String(repeating: "●", count: passed) + String(repeating: "○", count: total - passed)
        let line = "\(circles)  \(passed) of \(total)  \(sentence)"
        write(isTerminal ? "\r\u{1b}[K" + line + (isLast ? "\n" : "") : line + "\n")
    }

    /// What the person should do differently.
    static func sentence(_ guidance: SensorGuidance) -> String {
        switch guidance {
        case .scanAgain: "The scan was not clear. Try again."
        case .swipeTooShort: "The swipe was too short. Try again."
        case .fingerNotCentred: "Centre your finger on the reader, and try again."
        case .removeAndRetry: "Lift your finger, and try again."
        case .tooFast: "That was too fast. Try again."
        }
    }
}
