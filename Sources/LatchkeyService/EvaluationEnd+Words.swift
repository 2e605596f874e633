// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension EvaluationEnd {
    /// The result as a line of a transcript.
    package var words: String {
        if let refusal { return "\(application) gets: \(refusal)" }
        let names = methods.map { "\($0)" }.sorted().joined(separator: " and ")
        return "\(application) gets: granted" + (names.isEmpty ? "" : " by \(names)")
    }
}
