// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// The reducer and the helpers with which tests send events and inspect effects.
struct World {
    var state: PolicyState

    /// Creates a machine, by default with a passcode and an enrolled finger.
    init(
        _ sensor: SensorState = .touch, passcode: Bool = true, biometryFailures: Int = 0, permission: Bool? = true
    ) {
        state = PolicyState(AuthorityState(sensor: sensor, isPasscodeSet: passcode))
        state.biometryFailures = biometryFailures
        state.facePermissions["a"] = permission
    }

    /// Sends one event, at a time of the boot-time clock.
    @discardableResult
    mutating func send(_ event: PolicyEvent, at now: Int64 = 0) -> [PolicyEffect] { state.reduce(event, at: now) }

    /// Sends several events and returns all effects.
    @discardableResult
    mutating func send(_ events: [PolicyEvent]) -> [PolicyEffect] { events.flatMap { state.reduce($0) } }

    /// Requests an evaluation.
    @discardableResult
    mutating func ask(
        _ plan: AuthenticationPlan, id: UInt64 = 1, fallback: Bool = true, interaction: Bool = true,
        reuseSeconds: UInt64 = 0, faceUser: String? = "a", purpose: PromptPurpose = .app, acceptsWeak: Bool = false,
        program: UInt64 = 0, session: String = "", at now: Int64 = 0
    ) -> [PolicyEffect] {
        let request = EvaluationRequest(
            id: id, plan: plan, allowsFallback: fallback, interactionAllowed: interaction, reuseSeconds: reuseSeconds,
            faceUser: faceUser, purpose: purpose, acceptsWeak: acceptsWeak, program: program,
            place: PromptPlace(session: session))
        return send(.evaluate(request), at: now)
    }

    /// Requests an evaluation and makes its prompt visible.
    @discardableResult
    mutating func show(
        _ plan: AuthenticationPlan, id: UInt64 = 1, fallback: Bool = true, purpose: PromptPurpose = .app,
        acceptsWeak: Bool = false
    ) -> [PolicyEffect] {
        ask(plan, id: id, fallback: fallback, purpose: purpose, acceptsWeak: acceptsWeak) + send(.promptVisible(id))
    }

    /// Enters a correct or wrong passcode.
    @discardableResult
    mutating func type(right: Bool, id: UInt64 = 1, at time: Int64 = 0) -> [PolicyEffect] {
        send(.passcodeEntered(id, at: time), at: time) + send(.countersStored(id), at: time)
            + send(.passcodeChecked(id, isRight: right), at: time)
    }

    /// Sends failed matches, each with its stored count.
    @discardableResult
    mutating func miss(_ times: Int = 1, id: UInt64 = 1) -> [PolicyEffect] {
        (0..<times).flatMap { _ in send([.notMatched(id), .countersStored(id)]) }
    }
}

extension PolicyEvent {
    /// A match by a sensor that is hardware.
    static func matched(_ id: UInt64, _ set: EnrolmentSet) -> PolicyEvent { .matched(id, set, isVirtual: false) }
}

extension EnrolmentSet {
    static let a = EnrolmentSet([0xaa])
    static let b = EnrolmentSet([0xbb])
}

extension SensorState {
    static let touch = SensorState(kind: .touchID, enrolment: .a)
    static let touchB = SensorState(kind: .touchID, enrolment: .b)
    static let touchEmpty = SensorState(kind: .touchID)
    static let face = SensorState(kind: .faceID, enrolment: .a)
    static let faceEmpty = SensorState(kind: .faceID)
    static let weakFace = SensorState(
        kind: .faceID, enrolment: .a, reportsEnrolmentChanges: false, isWeak: true)
}

extension Int64 {
    /// Returns nanoseconds.
    static func seconds(_ count: Int64) -> Int64 { count * 1_000_000_000 }
    static func hours(_ count: Int64) -> Int64 { seconds(count * 3600) }
}

extension AuthenticationPlan {
    static let nothing = AuthenticationPlan([])
    static let biometry = Policy.deviceOwnerAuthenticationWithBiometrics.plan
    static let passcode = AuthenticationPlan([[.passcode]])
    static let either = Policy.deviceOwnerAuthentication.plan
    static let biometryThenPasscode = AuthenticationPlan([[.biometry], [.passcode]])
    static let passcodeThenBiometry = AuthenticationPlan([[.passcode], [.biometry]])
    static let all = [nothing, biometry, passcode, either, biometryThenPasscode, passcodeThenBiometry]
}

extension Authorisation {
    static let finger = granted(.biometry, [.matched(1, .a)])
    static let code = granted(
        .passcode, [.passcodeEntered(1, at: 0), .countersStored(1), .passcodeChecked(1, isRight: true)])
    static let both = granted(
        .biometryThenPasscode,
        [.matched(1, .a), .passcodeEntered(1, at: 0), .countersStored(1), .passcodeChecked(1, isRight: true)])

    /// Returns the authorisation that the reducer grants after those events.
    private static func granted(_ plan: AuthenticationPlan, _ events: [PolicyEvent]) -> Authorisation {
        var world = World()
        world.show(plan)
        for case .reply(_, .success(let authorisation)) in world.send(events) { return authorisation }
        return .none
    }
}

/// The result of an evaluation, without caller and time.
enum Ended: Equatable {
    case granted(Proven)
    case denied(Status)
}

/// The methods and the enrolment set of an authorisation, without caller and time.
struct Proven: Equatable {
    var methods: Set<AuthenticationMethod>
    var enrolment: EnrolmentSet?

    static let none = Proven(methods: [])
    static let finger = Proven(methods: [.biometry], enrolment: .a)
    static let code = Proven(methods: [.passcode])
    static let both = Proven(methods: [.biometry, .passcode], enrolment: .a)
}

extension [PolicyEffect] {
    /// The results in the replies to one evaluation.
    func outcomes(_ id: UInt64 = 1) -> [Ended] {
        compactMap { effect in
            guard case .reply(id, let outcome) = effect else { return nil }
            switch outcome {
            case .success(let proof): return .granted(Proven(methods: proof.methods, enrolment: proof.enrolment))
            case .failure(let status): return .denied(status)
            }
        }
    }

    /// The authorisation in the reply to one evaluation.
    func authorisation(_ id: UInt64 = 1) -> Authorisation? {
        for case .reply(id, .success(let authorisation)) in self { return authorisation }
        return nil
    }

    /// The last content of the prompt.
    var content: PromptContent? {
        compactMap {
            switch $0 {
            case .show(_, let content), .update(_, let content): content
            default: nil
            }
        }.last
    }

    /// The numbers of the evaluations whose prompts are shown.
    var shown: [UInt64] { compactMap { if case .show(let request, _) = $0 { request.id } else { nil } } }

    /// The counters that are stored.
    var persisted: [PolicyCounters] {
        compactMap {
            switch $0 {
            case .persist(let counters), .persistFirst(_, let counters): counters
            default: nil
            }
        }
    }
}
