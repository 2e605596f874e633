// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// The proofs for which this authority may still approve uses of keys, by the challenges of their tokens.
///
/// The authority stores them itself, so the process that stores the keys cannot extend them. They end with the lock of
/// the device, with the process that asked, and, for biometry, with the enrolment set.
struct KeyGrants: Sendable {
    private struct Grant: Sendable {
        let caller: Caller
        let methods: Set<AuthenticationMethod>
        let enrolment: EnrolmentSet?
        let uses: KeyUses
        /// The name of the key that it was used for; nil before its first use.
        var key: [UInt8]?
        /// The position among all grants.
        let number: UInt64

        func permits(_ key: [UInt8], _ set: EnrolmentSet?) -> Bool {
            guard self.key == nil || self.key == key, caller.isCurrent else { return false }
            return !methods.contains(.biometry) || (enrolment != nil && enrolment == set)
        }
    }
    private var grants: [[UInt8]: Grant] = [:]
    private var next: UInt64 = 0

    /// Maximum grants; a new one replaces the oldest, whose owner is then asked again.
    static let limit = 256

    mutating func add(_ token: AuthToken, _ caller: Caller, _ uses: KeyUses) {
        // A match by a weak sensor releases no key.
        guard token.purpose == .app, token.strength == .strong else { return }
        next += 1
        grants[token.challenge] = Grant(
            caller: caller, methods: token.methods, enrolment: token.enrolment, uses: uses, number: next)
        if grants.count > Self.limit, let oldest = grants.min(by: { $0.value.number < $1.value.number }) {
            grants[oldest.key] = nil
        }
    }

    mutating func removeAll() { grants = [:] }

    /// What permits the use of a key.
    struct Permission: Sendable {
        let methods: Set<AuthenticationMethod>
        /// The token whose passcode completes a stage; nil if none does.
        var passcode: [UInt8]?
        /// The tokens whose grants have ended with the use.
        var spent: [[UInt8]] = []
    }

    /// Returns what permits the use of a key now, if tokens do; a grant for one use ends with it.
    ///
    /// - Parameters:
    ///   - plan: the authentication that the key requires, with at least one stage.
    ///   - set: the current enrolment set.
    ///   - provesPasscode: whether the passcode of a token, which it names, may complete a stage.
    mutating func take(
        _ tokens: [[UInt8]], for plan: AuthenticationPlan, key: [UInt8], set: EnrolmentSet?,
        provesPasscode: (_ token: [UInt8]) -> Bool = { _ in true }
    ) -> Permission? {
        var usable: [(token: [UInt8], grant: Grant)] = []
        for token in tokens {
            if let grant = grants[token], grant.permits(key, set) { usable.append((token, grant)) }
        }
        guard let caller = usable.first?.grant.caller, usable.allSatisfy({ $0.grant.caller == caller }) else {
            return nil
        }
        let passcode = usable.first { $0.grant.methods.contains(.passcode) && provesPasscode($0.token) }?.token
        var methods = usable.reduce(into: Set<AuthenticationMethod>()) { $0.formUnion($1.grant.methods) }
        if passcode == nil { methods.remove(.passcode) }
        guard plan.stages.allSatisfy({ !$0.isDisjoint(with: methods) }) else { return nil }
        var permission = Permission(methods: methods, passcode: passcode)
        for (token, grant) in usable {
            switch grant.uses {
            case .one:
                grants[token] = nil
                permission.spent.append(token)
            case .oneKey: grants[token]?.key = key
            }
        }
        return permission
    }
}
