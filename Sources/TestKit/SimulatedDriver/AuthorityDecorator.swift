// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

/// An authority that stands between a service and another authority, and between that authority and its client.
///
/// Every function of both roles is forwarded unless the decorator implements it.
package protocol AuthorityDecorator: AuthenticationAuthority, KeychainService {
    var authority: any AuthenticationAuthority { get }
    var service: ServiceReference { get }
}

/// A weak reference to the service that uses an authority.
package final class ServiceReference: Sendable {
    private struct Weak: Sendable { weak var client: (any KeychainService)? }
    private let reference = Mutex(Weak())

    package init() {}

    /// The service; nil before `attach` and after the service has ended.
    package internal(set) var client: (any KeychainService)? {
        get { reference.withLock { $0.client } }
        set { reference.withLock { $0.client = newValue } }
    }
}

// MARK: - From the service to the authority

extension AuthorityDecorator {
    package var state: PolicyState { authority.state }

    package var isStateKnown: Bool { authority.isStateKnown }

    package var shownPrompts: [StatusReport.ShownPrompt] { authority.shownPrompts }
    package var passcodeKind: PasscodeKind? { authority.passcodeKind }

    package var connection: [UInt8] { authority.connection }

    package func code(of token: AuthToken) throws(Failure) -> [UInt8] { try authority.code(of: token) }

    package func attach(_ client: any KeychainService, isPasscodeSet: Bool, isLocked: Bool) {
        service.client = client
        authority.attach(self, isPasscodeSet: isPasscodeSet, isLocked: isLocked)
    }

    package func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, failed: @escaping @Sendable (TriedProof) -> Void,
        _ completion: @escaping @Sendable (Result<AuthenticationGrant, Failure>) -> Void
    ) -> UInt64 { authority.evaluate(request, of: caller, failed: failed, completion) }

    package func binding(storeID: [UInt8], _ accessControl: AccessControl) throws(Failure) -> KeyBinding {
        try authority.binding(storeID: storeID, accessControl)
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        try authority.approve(request)
    }

    package func withdraw(_ evaluation: UInt64, _ status: Status) { authority.withdraw(evaluation, status) }

    package func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?) {
        authority.report(change, then: then)
    }

    package func persistCounters() throws(Failure) { try authority.persistCounters() }

    package func setFacePermission(
        _ application: String, _ isAllowed: Bool?, _ done: @escaping @Sendable (Failure?) -> Void
    ) { authority.setFacePermission(application, isAllowed, done) }

    package func observe(_ observer: @escaping @Sendable () -> Void) { authority.observe(observer) }
}

// MARK: - From the authority to the service

extension AuthorityDecorator {
    package func adopt(_ set: EnrolmentSet?) throws(Failure) { try service.client?.adopt(set) }

    package func open(_ passcode: SecretBytes) throws(Failure) -> PasscodeVerdict { try forward(passcode) }

    package func openSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) -> Bool {
        guard let client = service.client else { throw Failure(.systemCancel) }
        return try client.openSlot(slotKey, passcodeID: passcodeID)
    }

    package func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) {
        guard let client = service.client else { throw Failure(.systemCancel) }
        try client.replaceSlot(slotKey, passcodeID: passcodeID)
    }

    /// Has the service verify a passcode; throws `systemCancel` if the service has ended.
    package func forward(_ passcode: SecretBytes) throws(Failure) -> PasscodeVerdict {
        guard let client = service.client else { throw Failure(.systemCancel) }
        return try client.open(passcode)
    }

    package func applySessionLock(isLocked: Bool) throws(Failure) {
        try service.client?.applySessionLock(isLocked: isLocked)
    }

    package func authorityWasLost() { service.client?.authorityWasLost() }

    package func counted(_ counters: PolicyCounters) { service.client?.counted(counters) }

    package func countersWereLost() throws(Failure) { try service.client?.countersWereLost() }

    package func refused(_ source: UntrustedSource, count: UInt64) { service.client?.refused(source, count: count) }

    package func tryFailed(_ proof: TriedProof) { service.client?.tryFailed(proof) }
}
