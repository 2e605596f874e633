// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import SimulatedDriver
import TestPromises
import Testing

@testable import LatchkeyService

/// For which programs the person is asked, after they refused others.
@Suite struct SecretPromptsTests {
    private let clock = VirtualClock()
    private let prompts: SecretPrompts

    init() { prompts = SecretPrompts(clock) }

    private enum Person { case allows, refuses, isAway }

    /// Whether a prompt is shown for a request of the program.
    private func isAsked(_ program: String, _ person: Person) async -> Bool {
        var isShown = false
        _ = try? await prompts.answer(for: program, ["item"]) { () async throws(Failure) in
            isShown = true
            switch person {
            case .allows: return .once
            case .refuses: throw Failure(.userCancel)
            case .isAway: throw Failure(.systemCancel)
            }
        }
        return isShown
    }

    /// What a request is told that shows no prompt.
    private func refusal(_ program: String) async -> Failure? {
        do throws(Failure) {
            _ = try await prompts.answer(for: program, ["item"]) { () async throws(Failure) in .once }
            return nil
        } catch {
            return error
        }
    }

    /// After a cancelled change, a second one is refused without a prompt. The error says so, and when a prompt is possible again.
    @Test(arguments: [Person.refuses, .isAway])
    private func aRefusalWithoutAPromptSaysForHowLong(_ person: Person) async {
        #expect(await isAsked("settings", person))
        advance(2)
        let first = await refusal("settings")
        #expect(first?.status == .promptDelayed && first?.message.arguments == ["8"])
        #expect(first?.message.description.contains("none is shown now. Try again in 8 seconds.") == true)
        // One second is over before it is read.
        advance(7)
        #expect(await refusal("settings")?.message.arguments == ["2"])
        advance(1)
        // Never less than what is left.
        #expect(Refusal.promptDelayed(for: 7_000_000_001).message.arguments == ["8"])
        for seconds in [20, 40, 80, 160] as [Int64] {
            #expect(await isAsked("settings", person))
            let text = seconds < 120 ? "Try again in \(seconds) seconds." : "Try again in 3 minutes."
            #expect(await refusal("settings")?.message.description.hasSuffix(text) == true, "\(seconds)")
            advance(seconds)
        }
    }

    /// Exact times would say when other programs asked.
    @Test func aProgramLearnsNoTimeOfOthers() async {
        for number in 1...5 { #expect(await isAsked("/tmp/\(number)", .refuses)) }
        var told: Set<String> = []
        for seconds in [0, 1, 100] as [Int64] {
            advance(seconds)
            let failure = await refusal("mail")
            #expect(failure?.status == .promptDelayed)
            told.insert("\(failure?.text ?? "") \(failure?.advice ?? "")")
        }
        #expect(told.count == 1 && told.first?.contains("five minutes") == true)
    }

    private func advance(_ seconds: Int64) { clock.advance(seconds: seconds) }

    /// Copies of a program under other paths would each have a first prompt.
    @Test(.promise("secrets.storm"), arguments: [Person.refuses, .isAway])
    private func afterSeveralProgramsFurtherOnesAreRefusedForAWhile(_ person: Person) async {
        for number in 1...5 {
            #expect(await isAsked("/tmp/\(number)", person))
            advance(60)
        }
        for number in 6...100 { #expect(await !isAsked("/tmp/\(number)", .allows)) }
        // 60 of 300 s have passed.
        advance(239)
        #expect(await !isAsked("/tmp/101", .allows))
        advance(1)
        #expect(await isAsked("/tmp/101", .allows))
    }

    /// What a hostile program causes must not keep the person's own programs from asking.
    @Test(.promise("secrets.storm")) func aProgramThatWasAllowedBeforeIsAskedForMeanwhile() async {
        for program in ["mail", "browser"] { #expect(await isAsked(program, .allows)) }
        for number in 1...5 { #expect(await isAsked("/tmp/\(number)", .refuses)) }
        #expect(await !isAsked("/tmp/6", .allows))
        for _ in 1...2 { #expect(await isAsked("mail", .allows)) }
        #expect(await isAsked("browser", .refuses))
        #expect(await !isAsked("browser", .allows), "its own refusal counts")
        advance(10)
        #expect(await isAsked("browser", .allows))
        #expect(await !isAsked("/tmp/6", .allows), "a program that is allowed ends the pause of no other one")
    }

    @Test func refusalsOfOneProgramOrOfALongTimeBeginNoPause() async {
        for _ in 1...10 {
            #expect(await isAsked("mail", .refuses))
            advance(3600)
        }
        for number in 1...20 {
            #expect(await isAsked("/usr/bin/\(number)", .refuses))
            advance(150)
        }
        // Programs that were allowed before do not count.
        for number in 1...20 { #expect(await isAsked("/opt/\(number)", .allows)) }
        for number in 1...20 { #expect(await isAsked("/opt/\(number)", .refuses)) }
        #expect(await isAsked("/usr/bin/new", .allows))
    }

    @Test func whatCannotBeShownIsNoRefusal() async {
        for number in 1...20 {
            _ = try? await prompts.answer(for: "/tmp/\(number)", []) { () async throws(Failure) in
                throw Failure(.notInteractive)
            }
        }
        for number in [1, 21] { #expect(await isAsked("/tmp/\(number)", .allows)) }
    }
}
