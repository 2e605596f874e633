// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyModel
import Synchronization

/// The picture of an enrolment: a row of circles, of which one is filled with each scan, and what to do next. For
/// programs it writes a record instead, whose fields are separated by tabs: `scan`, the scans that were accepted, those
/// that are needed, and a word for what to do next.
final class EnrolPicture: Sendable {
    /// How a result is written.
    enum Form: Sendable {
        /// In place of the one before.
        case terminal
        /// As a line of text.
        case lines
        /// As a record for programs.
        case records
    }

    private let form: Form
    private let texts: FingerprintTexts
    private let isSwiped: Bool
    private let write: @Sendable (String) -> Void
    private let passed = Mutex(0)

    init(_ form: Form, _ texts: FingerprintTexts, isSwiped: Bool, _ write: @escaping @Sendable (String) -> Void) {
        (self.form, self.texts, self.isSwiped, self.write) = (form, texts, isSwiped, write)
    }

    /// Tells a program that the reader is asked to scan, and how often, as far as it says. A person was told what to do before.
    func begin(_ stages: Int?) {
        if form == .records { write("scan\t0\t\(stages ?? 0)\tbegin\n") }
    }

    func show(_ status: EnrolStatus, stages: Int?) {
        switch status {
        case .stagePassed: draw(add: 1, stages, texts.next(isSwiped: isSwiped), "passed")
        case .guidance(let guidance): draw(add: 0, stages, texts.sentence(guidance), guidance.word)
        case .completed: draw(add: 1, stages, texts.done, "done", isLast: true)
        case .duplicate, .full, .disconnected, .failed: if form == .terminal { write("\n") }
        }
    }

    private func draw(add count: Int, _ stages: Int?, _ sentence: String, _ word: String, isLast: Bool = false) {
        let passed = passed.withLock { passed in
            passed += count
            return passed
        }
        // A reader that looks for duplicates has one scan more than it says.
        let total = isLast ? passed : max(stages ?? 0, passed + 1)
        let circles = String(repeating: "●", count: passed) + String(repeating: "○", count: total - passed)
        let line = texts.progress(circles, passed, total, sentence)
        switch form {
        case .terminal: write("\r\u{1b}[K" + line + (isLast ? "\n" : ""))
        case .lines: write(line + "\n")
        case .records: write("scan\t\(passed)\t\(total)\t\(word)\n")
        }
    }
}
