// SPDX-License-Identifier: Apache-2.0

/// A request of the keychain's service to authenticate the user.
///
/// It is a message of the service channel, and only a claim: `latchkey-authd` determines itself who the process is, and
/// what else it requires of the user (`docs/reference/services.md`).
package struct AuthenticationRequest: Equatable, Sendable {
    package var plan: AuthenticationPlan
    /// The process that asks; its user is the one who authenticates.
    package var process: ProcessName
    /// The face usage description of the app; nil if it has none (behaviour LA-07).
    package var faceUsage: String?
    /// The caller's texts; ignored for every purpose except `app`.
    package var prompting: Prompting
    package var purpose: PromptPurpose
    /// The step after all stages of the plan. A plan without stages but with a last step also shows a prompt.
    package var lastStep: LastStep
    /// The recovery code that the last step shows; nil in other steps.
    package var recoveryCode: SecretBytes?
    /// The programs that started the one that asks, for the prompt; empty if they are not shown.
    package var startedBy: String
    /// Seconds after an unlock by biometry during which it is accepted as proof (behaviour LA-33).
    package var reuseSeconds: UInt64
    /// 32 random bytes, which the token repeats.
    package var challenge: [UInt8]
    /// The hash of what the request is for, 32 bytes, which the token repeats.
    package var binding: [UInt8]
    /// How many uses of keys the token permits.
    package var keyUses: KeyUses
    /// Whether a match by a weak sensor is accepted: for a policy, which releases nothing.
    package var acceptsWeak: Bool

    package init(
        plan: AuthenticationPlan, process: ProcessName, faceUsage: String? = nil, prompting: Prompting = Prompting(),
        purpose: PromptPurpose = .app, lastStep: LastStep = .none, recoveryCode: SecretBytes? = nil,
        reuseSeconds: UInt64 = 0, challenge: [UInt8] = [], binding: [UInt8] = [], keyUses: KeyUses = .one,
        acceptsWeak: Bool = false, startedBy: String = ""
    ) {
        self.plan = plan
        self.process = process
        self.faceUsage = faceUsage
        self.prompting = prompting
        self.purpose = purpose
        self.lastStep = lastStep
        self.recoveryCode = recoveryCode
        self.reuseSeconds = reuseSeconds
        self.challenge = challenge
        self.binding = binding
        self.keyUses = keyUses
        self.acceptsWeak = acceptsWeak
        self.startedBy = startedBy
    }

    /// Whether a recovery code is given for the step that shows it, and for no other, and the step may be asked for.
    package var hasValidStep: Bool {
        switch lastStep {
        case .none, .asksRecoveryCode, .asksNewPasscode, .asksAnswer, .asksOnce: recoveryCode == nil
        case .showsRecoveryCode: recoveryCode.map { $0.count > 0 } ?? false
        // Only `latchkey-authd` adds it, to requests of its own.
        case .repeatsRecoveryCode: false
        }
    }
}

/// A granted `AuthenticationRequest`. A refusal is a `Failure`, without a message if its status describes it.
package struct AuthenticationGrant: Equatable, Sendable {
    package var token: AuthToken
    /// What the user entered in the last step; nil if that asks for nothing.
    package var entered: Entered?

    package enum Entered: Equatable, Sendable {
        /// A recovery code, or the word of a confirmation. In one process also the new passcode, which no message has.
        case text(SecretBytes)
        /// The key of the slot for the new passcode, 32 bytes, which `latchkey-authd` derived; with the identifier of the
        /// passcode's secret, 16 bytes, and what a new recovery code opens, if one was shown.
        case slotKey(SecretBytes, passcodeID: [UInt8], recovery: RecoveryGrant? = nil)
    }

    package init(token: AuthToken, entered: Entered? = nil) { (self.token, self.entered) = (token, entered) }
}
