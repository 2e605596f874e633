// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeyPolicy

/// The result of an evaluation, as `LocalAuthority.Parts.ended` reports it to an observer such as the simulator's transcript.
package struct EvaluationEnd: Equatable, Sendable {
    package let application: String
    /// The methods by which the user authenticated; empty if the evaluation was refused.
    package let methods: Set<AuthenticationMethod>
    /// Why the evaluation was refused; nil if it was granted.
    package let refusal: Status?

    init(_ application: String, _ result: Result<Authorisation, Status>) {
        self.application = application
        switch result {
        case .success(let proof): (methods, refusal) = (proof.methods, nil)
        case .failure(let status): (methods, refusal) = ([], status)
        }
    }
}

extension EvaluationEnd {
    /// The result as a line of a transcript.
    package var words: String {
        if let refusal { return "\(application) gets: \(refusal)" }
        let names = methods.map { "\($0)" }.sorted().joined(separator: " and ")
        return "\(application) gets: granted" + (names.isEmpty ? "" : " by \(names)")
    }
}
