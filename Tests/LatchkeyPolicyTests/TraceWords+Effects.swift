// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

extension TraceWords {
    /// Returns an effect as text, with all its values.
    static func text(_ effect: PolicyEffect) -> String {
        switch effect {
        case .show(let request, let content): "show \(request.id) \(text(request.plan)): \(text(content))"
        case .update(let id, let content): "update \(id): \(text(content))"
        case .dismiss(let id): "dismiss \(id)"
        case .arm(let id): "arm \(id)"
        case .disarm(let id): "disarm \(id)"
        case .checkPasscode(let id): "checkPasscode \(id)"
        case .startDeadline(let id, let seconds): "startDeadline \(id) \(seconds) s"
        case .reply(let id, .success(let proof)): "reply \(id): granted \(text(proof))"
        case .reply(let id, .failure(let status)): "reply \(id): denied \(status)"
        case .persistPermissions(let permissions):
            "persistPermissions: "
                + (permissions.isEmpty ? "none" : "")
                + permissions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        case .persist(let counters): "persist: \(text(counters))"
        case .persistFirst(let id, let counters): "persistFirst \(id): \(text(counters))"
        case .startDelay(let id, let seconds): "startDelay \(id) \(seconds) s"
        }
    }

    private static func text(_ counters: PolicyCounters) -> String {
        "biometryFailures \(counters.biometryFailures), passcodeFailures \(counters.passcodeFailures), "
            + "blockedUntil \(text(counters.passcodeBlockedUntil)), lastPasscode \(text(counters.lastPasscode)), "
            + "lastBiometry \(text(counters.lastBiometry))"
    }

    private static func text(_ content: PromptContent) -> String {
        ["\(content.method)", "triesLeft \(content.triesLeft)"]
            .appending("notice \(content.notice)", if: content.notice != .none)
            .appending("showsFallback", if: content.showsFallback)
            .appending("asksPermission", if: content.question == .permission)
            .appending("asksScan", if: content.question == .scan)
            .appending("entry in \(content.delaySeconds) s", if: content.delaySeconds != 0)
            .appending("\(content.step)", if: content.step != .proof).joined(separator: ", ")
    }

    private static func text(_ plan: AuthenticationPlan) -> String {
        plan.stages.isEmpty ? "nothing" : plan.stages.map { text($0, "|") }.joined(separator: "&")
    }

    private static func text(_ proof: Authorisation) -> String {
        let set = proof.enrolment.map { " of \(String(decoding: $0.bytes, as: UTF8.self))" } ?? ""
        return (proof.methods.isEmpty ? "nothing" : text(proof.methods, " and ")) + set
    }

    private static func text(_ methods: Set<AuthenticationMethod>, _ separator: String) -> String {
        AuthenticationMethod.allCases.filter(methods.contains).map { "\($0)" }.joined(separator: separator)
    }

    private static func text(_ time: Int64?) -> String {
        guard let time else { return "never" }
        let seconds = time / 1_000_000_000
        let parts = [seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        let rest = time % 1_000_000_000
        return "\(seconds / 3600):\(parts[0]):\(parts[1])" + (rest == 0 ? "" : " and \(rest) ns")
    }
}

extension [String] {
    fileprivate func appending(_ word: String, if condition: Bool) -> [String] { condition ? self + [word] : self }
}
