// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import TestSupport
import Testing

/// The keychain opens nothing with the proof of another caller or of another evaluation.
@Suite struct ForeignProofTests {
    private let keychain: Keychain
    private let rule = AccessControl(accessibility: .whenUnlocked, constraints: .devicePasscode)

    init() throws {
        keychain = try Keychain.inMemory()
        try keychain.add("mine", "secret", rule)
    }

    private var other: Caller {
        var caller = StoreOnDisk.caller
        caller.session += 1
        return caller
    }

    @Test(.promise("decision.required")) func aProofOfAnotherCallerOrSessionReadsNothing() throws {
        let proof = Authorisation.testOnly([.passcode], by: other)
        #expect(status { _ = try keychain.secret("mine", proof: proof) } == .itemAuthenticationFailed)
        #expect(try keychain.secret("mine", proof: .ofPasscode) == "secret")
    }

    @Test func aUnionWithAProofOfAnotherCallerReadsNothing() throws {
        let proof = Authorisation.ofPasscode.union(.testOnly([.biometry], by: other))
        #expect(status { _ = try keychain.secret("mine", proof: proof) } == .itemAuthenticationFailed)
    }

    @Test func aProofOfAnotherCallerChangesNothing() throws {
        let proof = Authorisation.testOnly([.passcode], by: other)
        #expect(
            status { _ = try keychain.update(.account("mine"), secret: "new", proof: proof) }
                == .itemAuthenticationFailed)
    }

    @Test(.promise("decision.required")) func aMatchOfAnotherEnrolmentSetOpensNothing_abuse32() throws {
        try keychain.add("finger", "two", AccessControl(accessibility: .whenUnlocked, constraints: .biometryAny))
        #expect(try keychain.apply(EnrolmentSet([1])))
        let old = Authorisation.testOnly([.biometry], enrolment: EnrolmentSet([2]), by: StoreOnDisk.caller)
        #expect(try keychain.secret("finger", proof: old) == nil, "another proof is required")
        let current = Authorisation.testOnly([.biometry], enrolment: EnrolmentSet([1]), by: StoreOnDisk.caller)
        #expect(try keychain.secret("finger", proof: current) == "two")
    }

    @Test(.promise("decision.required")) func changingOrRemovingThePasscodeRequiresItsOwnProof() throws {
        let caller = StoreOnDisk.caller
        // Otherwise the match is of another enrolment set and does not count.
        #expect(try keychain.apply(EnrolmentSet([1])))
        let wrong: [Authorisation] = [
            .none, .testOnly([.biometry], by: caller), .testOnly([.passcode], by: other),
            Authorisation.testOnly([.biometry], by: caller, evaluation: 1)
                .union(.testOnly([.passcode], by: caller, evaluation: 2)),
        ]
        let new = try keychain.stretched(SecretBytes("new".utf8))
        for proof in wrong {
            #expect(status { try keychain.removePasscode(caller: caller, proof: proof) } == .itemAuthenticationFailed)
            #expect(
                status { try keychain.changePasscode(to: .stretched(new), caller: caller, proof: proof) }
                    == .itemAuthenticationFailed)
        }
    }

    @Test(.promise("decision.names")) func namesAreListedOnlyWithAProofOfTheCaller() throws {
        func count(_ proof: Authorisation) throws(Failure) -> Int {
            var (cursor, count) = (SearchCursor(), 0)
            _ = try keychain.listNames(caller: StoreOnDisk.caller, proof: proof, from: &cursor) { _ in count += 1 }
            return count
        }
        let weak: [Authorisation] = [
            .none, .testOnly([.passcode], by: other),
            .testOnly([.biometry], enrolment: EnrolmentSet([2]), by: StoreOnDisk.caller),
        ]
        #expect(status { _ = try count(.ofPasscode) } == .itemAuthenticationFailed, "there is no passcode")
        try keychain.setPasscode(SecretBytes("1234".utf8))
        for proof in weak { #expect(status { _ = try count(proof) } == .itemAuthenticationFailed) }
        #expect(try count(.ofPasscode) == 1)
    }

    /// The lock can come between two pages of the list.
    @Test func namesOfALockedKeychainAreNotListed() throws {
        try keychain.setPasscode(SecretBytes("1234".utf8))
        var (cursor, count) = (SearchCursor(), 0)
        func list() throws(Failure) {
            _ = try keychain.listNames(caller: StoreOnDisk.caller, proof: .ofPasscode, from: &cursor) { _ in count += 1
            }
        }
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        #expect(status { try list() } == .interactionNotAllowed)
        #expect(count == 0)
        keychain.tree.apply(LockState())
        #expect(status { try list() } == nil && count == 1)
    }

    @Test func itemOfAListIsDeletedOnlyWithAProofOfTheCaller() throws {
        var (items, cursor) = ([FoundItem](), SearchCursor())
        _ = try keychain.listEverything(from: &cursor) { items.append($0) }
        let reference = try #require(items.first?.persistentReference)
        func delete(_ proof: Authorisation) throws(Failure) {
            try keychain.deleteListed(reference, caller: StoreOnDisk.caller, proof: proof)
        }
        #expect(status { try delete(.ofPasscode) } == .itemAuthenticationFailed, "there is no passcode")
        try keychain.setPasscode(SecretBytes("1234".utf8))
        for proof in [Authorisation.none, .testOnly([.passcode], by: other)] {
            #expect(status { try delete(proof) } == .itemAuthenticationFailed)
        }
        #expect(status { try delete(.ofPasscode) } == nil)
        #expect(status { try delete(.ofPasscode) } == .itemNotFound)
    }

    @Test func anOperatorWithoutAConstraintIsRefused_AC01() {
        for flags: AccessConstraints in [.or, .and] {
            let rule = AccessControl(accessibility: .whenUnlocked, constraints: flags)
            #expect(status { try keychain.add("open", "secret", rule) } == .invalidParameter)
        }
    }
}
