// SPDX-License-Identifier: Apache-2.0

// What the authority of a user says about keys whose uses it approves.

/// How a key demands the passcode of the module itself, and not only of the authority. It is part of the key.
package struct PasscodeDemand: Equatable, Sendable {
    /// How the passcode and the approval combine. Raw values are part of formats and never reused.
    package enum Part: UInt8, CaseIterable, Sendable {
        /// The passcode in place of the approval.
        case alone = 1
        /// The passcode or the approval.
        case either = 2
        /// The passcode and the approval.
        case both = 3
    }

    package let part: Part
    /// The name of what verifies the passcode, for a TPM that of an NV index, 34 bytes. It does not change with the
    /// passcode.
    package let verifier: [UInt8]

    package static let verifierBytes = 34

    package init(_ part: Part, verifier: [UInt8]) { (self.part, self.verifier) = (part, verifier) }
}

extension PasscodeDemand.Part {
    /// How the passcode takes part in what an access control requires; nil if a use needs no passcode in any case.
    package init?(_ plan: AuthenticationPlan) {
        let accepting = plan.stages.filter { $0.contains(.passcode) }
        let needsPasscode = accepting.contains([.passcode])
        // A stage that accepts both is complete with whatever another stage requires.
        switch (needsPasscode, accepting.count < plan.stages.count) {
        case (true, true): self = .both
        case (true, false): self = .alone
        case (false, false) where !accepting.isEmpty: self = .either
        case (false, _): return nil
        }
    }
}

extension AccessControl {
    /// Whether no way to satisfy the access control does without the passcode.
    package var needsPasscode: Bool {
        switch PasscodeDemand.Part(plan) {
        case .alone, .both: true
        case .either, nil: false
        }
    }
}

/// What binds a key to the authority that approves its uses. It is part of the key and cannot be changed.
package struct KeyBinding: Equatable, Sendable {
    /// The public key of the authority, a P-256 point in X9.63 format, 65 bytes.
    package let authority: [UInt8]
    /// The reference of the key's policy, 32 bytes, which stands for user, store, access control and enrolment set.
    package let reference: [UInt8]
    /// How the key demands the passcode; nil if it relies on the authority for that.
    package let passcode: PasscodeDemand?

    package init(authority: [UInt8], reference: [UInt8], passcode: PasscodeDemand? = nil) {
        (self.authority, self.reference, self.passcode) = (authority, reference, passcode)
    }
}

/// What an approval covers besides the nonce. The authority computes the digest of the command itself, so that it
/// approves only commands whose parameters it has.
package struct ApprovalSubject: Equatable, Sendable {
    /// The module's name of the key, for a TPM the algorithm and the digest of the public area.
    package var keyName: [UInt8]
    /// The module's number of the command, for a TPM `TPM_CC`.
    package var command: UInt32
    /// The encoded parameters of the command, which contain the digest to sign or the point.
    package var parameters: [UInt8]
    /// The reference of the key's policy, which stands for the access control and the enrolment set of the key.
    package var policyReference: [UInt8]
    /// How the key demands the passcode; nil if it relies on the authority for that.
    package var passcode: PasscodeDemand?

    package init(
        keyName: [UInt8], command: UInt32, parameters: [UInt8], policyReference: [UInt8],
        passcode: PasscodeDemand? = nil
    ) {
        self.keyName = keyName
        self.command = command
        self.parameters = parameters
        self.policyReference = policyReference
        self.passcode = passcode
    }
}

/// A request to approve one use of a key.
package struct KeyApprovalRequest: Equatable, Sendable {
    /// The identifier of the store that has the key, 16 bytes.
    package var storeID: [UInt8]
    package var accessControl: AccessControl
    package var subject: ApprovalSubject
    package var nonce: [UInt8]
    /// The module's handle of the session that the passcode is proven to; 0 if the key demands none.
    package var session: UInt32
    /// The challenges of the tokens that prove the access control, 32 bytes each.
    package var tokens: [[UInt8]]

    package init(
        storeID: [UInt8], accessControl: AccessControl, subject: ApprovalSubject, nonce: [UInt8], session: UInt32 = 0,
        tokens: [[UInt8]]
    ) {
        self.session = session
        self.storeID = storeID
        self.accessControl = accessControl
        self.subject = subject
        self.nonce = nonce
        self.tokens = tokens
    }
}

/// An authority's approval of one challenge (TPM 2.0 Library, Part 3, section 23.3, `TPM2_PolicySigned`). The proof of a
/// passcode is not part of it: the module has that already when the approval arrives.
package struct KeyApproval: Equatable, Sendable {
    /// Seconds from the nonce of the session until the approval expires; positive.
    package var expirySeconds: Int32
    /// The signature of the authority over nonce, expiry, command and policy reference; empty if the passcode was proven
    /// in its place.
    package var signature: [UInt8]
    /// Whether the authority has proven the passcode to the session of the challenge.
    package var isPasscodeProven: Bool

    package init(expirySeconds: Int32, signature: [UInt8], isPasscodeProven: Bool = false) {
        (self.expirySeconds, self.signature, self.isPasscodeProven) = (expirySeconds, signature, isPasscodeProven)
    }
}

/// How many uses of keys the token of an evaluation permits. Raw values are part of the wire format and never reused.
package enum KeyUses: UInt8, CaseIterable, Sendable {
    /// One use of one key.
    case one = 0
    /// Any number of uses of the key for which it is used first. For a context, which an app uses for several requests
    /// (behaviour LA-34).
    case oneKey = 1
}
