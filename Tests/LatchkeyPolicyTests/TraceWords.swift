// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// The syntax of a `PolicyTrace`: names of the reducer's cases, times as `hours:minutes:seconds`, plans as stages
/// joined by `&` of methods joined by `|`, enrolment sets as names.
enum TraceWords {
    /// Parses a line such as `0:00:05 evaluate 1 biometry|passcode`.
    static func event(_ line: String) throws -> (time: Int64, PolicyEvent) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 2, let time = time(words[0]),
            let event = try evaluationEvent(words[1], Array(words[2...]), at: time)
                ?? surroundings(words[1], Array(words[2...]), at: time)
        else { throw TraceError("no event: \(line)") }
        return (time, event)
    }

    private static func evaluationEvent(_ verb: String, _ words: [String], at time: Int64) throws -> PolicyEvent? {
        guard let id = words.first.flatMap({ UInt64($0) }) else { return nil }
        let rest = words.dropFirst()
        switch (verb, rest.count) {
        case ("evaluate", 1...): return .evaluate(try request(id, Array(rest)))
        case ("promptVisible", 0): return .promptVisible(id)
        case ("promptUnavailable", 0): return .promptUnavailable(id)
        case ("promptLost", 0): return .promptLost(id)
        case ("matched", 1): return .matched(id, set(rest[1]))
        case ("notMatched", 0): return .notMatched(id)
        case ("sensorFailed", 0): return .sensorFailed(id)
        case ("guided", 1): return .guided(id, try named(rest[1], SensorGuidance.allCases))
        case ("sensorDisconnected", 0): return .sensorDisconnected(id)
        case ("fallbackChosen", 0): return .fallbackChosen(id)
        case ("cancelChosen", 0): return .cancelChosen(id)
        case ("passcodeEntered", 0): return .passcodeEntered(id, at: time)
        case ("passcodeRepeated", 0): return .passcodeRepeated(id)
        case ("countersStored", 0): return .countersStored(id)
        case ("countersNotStored", 1): return .countersNotStored(id, try named(rest[1], Status.allCases))
        case ("delayPassed", 0): return .delayPassed(id, at: time)
        case ("passcodeNotChecked", 1): return .passcodeNotChecked(id, try named(rest[1], Status.allCases))
        case ("passcodeChecked", 1): return .passcodeChecked(id, isRight: try isRight(rest[1]))
        case ("codeAcknowledged", 0): return .codeAcknowledged(id)
        case ("codeEntered", 0): return .codeEntered(id)
        case ("newPasscodeEntered", 1): return .newPasscodeEntered(id, isLongEnough: try truth(rest[1]))
        case ("newPasscodeRepeated", 1): return .newPasscodeRepeated(id, isEqual: try truth(rest[1]))
        case ("withdrawn", 1): return .withdrawn(id, try named(rest[1], Status.allCases))
        case ("deadlinePassed", 0): return .deadlinePassed(id)
        case ("permissionAnswered", 1): return .permissionAnswered(id, try truth(rest[1]))
        default: return nil
        }
    }

    private static func surroundings(_ verb: String, _ words: [String], at time: Int64) throws -> PolicyEvent? {
        switch (verb, words.count) {
        case ("sensorChanged", 1...2):
            let kind = try named(words[0], BiometryKind.allCases)
            return .sensorChanged(SensorState(kind: kind, enrolment: words.count == 2 ? set(words[1]) : nil))
        case ("locked", 0): return .locked
        case ("unlocked", 1):
            return .unlocked(byBiometry: try named(words[0], AuthenticationMethod.allCases) == .biometry)
        case ("background", 1): return .background(try truth(words[0]))
        case ("permissionChanged", 2):
            return .permissionChanged(words[0], words[1] == "forgotten" ? nil : try truth(words[1]))
        case ("passcodeExists", 1): return .passcodeExists(try truth(words[0]))
        case ("passcodeWasRight", 0): return .passcodeWasRight
        default: return nil
        }
    }

    private static func request(_ id: UInt64, _ words: [String]) throws -> EvaluationRequest {
        let stages = words[0] == "nothing" ? "" : words[0]
        let plan = try stages.split(separator: "&").map { stage in
            Set(try stage.split(separator: "|").map { try named(String($0), AuthenticationMethod.allCases) })
        }
        var request = EvaluationRequest(
            id: id, plan: AuthenticationPlan(plan), allowsFallback: true, interactionAllowed: true)
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "noFallback": request.allowsFallback = false
            case "as": request.faceUser = rest.popFirst()
            case "for":
                request.purpose = try named(rest.popFirst() ?? "", PromptPurpose.allCases)
            case "then":
                request.lastStep = try named(rest.popFirst() ?? "", LastStep.allCases)
            case "program":
                guard let program = rest.popFirst().flatMap({ UInt64($0) }) else { throw TraceError("which program?") }
                request.program = program
            case "noInteraction": request.interactionAllowed = false
            case "reuse":
                guard let seconds = rest.popFirst().flatMap({ UInt64($0) }) else {
                    throw TraceError("reuse for how long?")
                }
                request.reuseSeconds = seconds
            default: throw TraceError("unknown option: \(word)")
            }
        }
        return request
    }

    private static func named<Value>(_ word: String, _ values: [Value]) throws -> Value {
        guard let value = values.first(where: { "\($0)" == word }) else { throw TraceError("unknown: \(word)") }
        return value
    }

    private static func isRight(_ word: String) throws -> Bool {
        guard ["right", "wrong"].contains(word) else { throw TraceError("right or wrong, not \(word)") }
        return word == "right"
    }

    private static func truth(_ word: String) throws -> Bool {
        guard let value = Bool(word) else { throw TraceError("true or false, not \(word)") }
        return value
    }

    private static func set(_ word: String) -> EnrolmentSet { EnrolmentSet(Array(word.utf8)) }

    /// Parses `hours:minutes:seconds` and returns nanoseconds.
    private static func time(_ word: String) -> Int64? {
        let parts = word.split(separator: ":").map { Int64($0) }
        guard parts.count == 3, let hours = parts[0], let minutes = parts[1], let seconds = parts[2],
            0..<60 ~= minutes, 0..<60 ~= seconds, 0..<1_000_000 ~= hours
        else { return nil }
        return (hours * 3600 + minutes * 60 + seconds) * 1_000_000_000
    }
}
