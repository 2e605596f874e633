// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Keys of the enclave are items that no other request can create.
@Suite struct EnclaveItemTests {
    private let keychain: Keychain
    private let request = Request.CreateEnclaveKey(
        attributes: [.applicationTag: .text("tag")],
        accessControl: rule(.whenUnlocked, .privateKeyUsage), isPermanent: false, authentication: Authentication())

    init() throws { keychain = try Keychain.inMemory() }

    @Test(arguments: [AttributeCode.tokenID, .publicKey])
    func anUpdateCannotTurnAnItemIntoAnEnclaveKey_SE01(code: AttributeCode) throws {
        let bytes = SecretBytes([1] + [UInt8](repeating: 7, count: 32) + [4] + [UInt8](repeating: 8, count: 64))
        let item = Request.AddItem(
            itemClass: .key, attributes: [.applicationTag: .text("tag")],
            accessControl: rule(.whenUnlocked, .privateKeyUsage), secret: bytes, returns: .persistentReference,
            authentication: Authentication())
        let added = try keychain.add(item, caller: StoreOnDisk.caller)
        let reference = try #require(added?.persistentReference)
        let value: AttributeValue = code == .tokenID ? .text(Keychain.enclaveToken) : .data([4])
        #expect(status { _ = try keychain.update(.reference(reference), [code: value]) } == .invalidParameter)
        #expect(
            status { _ = try keychain.describeKey(.stored(reference), caller: StoreOnDisk.caller) } == .itemNotFound)
        #expect(try keychain.find(.reference(reference))?.first?.secret == bytes)
    }

    /// A module that checks password and enrolment set itself is given both.
    @Test func theModuleIsGivenTheSetAndThePasswordOfTheKey() throws {
        _ = try keychain.apply(EnrolmentSet([1]))
        var password = try keychain.appPassword(isGiven: true)
        let both = rule(.whenUnlocked, [.biometryCurrentSet, .applicationPassword, .privateKeyUsage])
        for parameters in try keychain.stretchingToAdd(both, password) {
            password.add(try StretchedPassword(SecretBytes("word".utf8), parameters))
        }
        let properties = try keychain.properties(ofNewKey: both, password)
        #expect(properties.accessControl == both && properties.enrolment == EnrolmentSet([1]))
        var request = request
        request.accessControl = both
        let made = try keychain.addKey(
            request, blob: SecretBytes([1]), publicKey: [4], caller: StoreOnDisk.caller,
            enrolment: properties.enrolment, password: password)
        let proof = Authorisation.testOnly([.biometry], by: StoreOnDisk.caller)
        let opening = try keychain.openKey(made.name, caller: StoreOnDisk.caller, proof: proof, password: password)
        guard case .opened(let key) = opening else { throw Failure(.internalFailure) }
        #expect(properties.password?.count == 32 && key.password == properties.password)
        let neither = try keychain.properties(ofNewKey: rule(.whenUnlocked, .privateKeyUsage), password)
        #expect(neither.enrolment == nil && neither.password == nil)
    }

    /// Adds a key whose blob is one byte.
    private func add(_ label: String, _ constraints: AccessConstraints, _ blob: UInt8) throws {
        var password = try keychain.appPassword(isGiven: constraints.contains(.applicationPassword))
        let control = rule(.whenUnlocked, constraints.union(.privateKeyUsage))
        for parameters in try keychain.stretchingToAdd(control, password) {
            password.add(try StretchedPassword(SecretBytes("word".utf8), parameters))
        }
        _ = try keychain.addKey(
            Request.CreateEnclaveKey(
                attributes: [.label: .text(label), .applicationTag: .text(label)], accessControl: control,
                isPermanent: true,
                authentication: Authentication()),
            blob: SecretBytes([blob]), publicKey: [4] + Array(label.utf8), caller: StoreOnDisk.caller,
            enrolment: try keychain.properties(ofNewKey: control, password).enrolment, password: password,
            demandsPasscode: blob == 5)
    }

    @Test func keysThatOnlyAnEarlierPasscodeReleasedAreNamed() throws {
        _ = try keychain.apply(EnrolmentSet([1]))
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try add("of the passcode", .devicePasscode, 5)
        try add("of both", [.biometryAny, .and, .devicePasscode], 5)
        try add("of an earlier form", .devicePasscode, 3)
        try add("of either", .userPresence, 5)
        try add("of a finger", .biometryAny, 5)
        try add("of nothing", [], 5)
        try add("of the app too", [.devicePasscode, .applicationPassword], 5)
        try add("of other fingers", [.biometryCurrentSet, .and, .devicePasscode], 5)
        _ = try keychain.apply(EnrolmentSet([2]))
        let lost = try keychain.keysOfEarlierPasscode { (blob) throws(Failure) in blob.copyBytes() == [5] }
        #expect(Set(lost.named.map(\.label)) == ["of the passcode", "of both", "of the app too"])
        #expect(lost.count == 3 && lost.named.allSatisfy { $0.reason == .earlierPasscode })
    }

    @Test func aKeyCreatedForAnEarlierEnrolmentSetIsNotStored() throws {
        _ = try keychain.apply(EnrolmentSet([1]))
        let bound = rule(.whenUnlocked, [.biometryCurrentSet, .privateKeyUsage])
        let properties = try keychain.properties(ofNewKey: bound, .none)
        _ = try keychain.apply(EnrolmentSet([2]))
        var request = request
        request.accessControl = bound
        #expect(
            status {
                _ = try keychain.addKey(
                    request, blob: SecretBytes([1]), publicKey: [4], caller: StoreOnDisk.caller,
                    enrolment: properties.enrolment)
            } == .enrolmentBindingUnavailable)
    }

    @Test func aChangedDetachedKeyIsNotReportedAsStoreDamage() throws {
        let made = try keychain.addKey(
            request, blob: SecretBytes([1, 2, 3]), publicKey: [4], caller: StoreOnDisk.caller)
        guard case .detached(var bytes) = made.name else { throw Failure(.internalFailure) }
        let open = { (name: EnclaveKeyName) throws(Failure) in
            try keychain.openKey(name, caller: StoreOnDisk.caller, proof: .none, password: .none)
        }
        guard case .opened(let key) = try open(.detached(bytes)) else { throw Failure(.internalFailure) }
        #expect(key.blob == SecretBytes([1, 2, 3]))
        bytes[bytes.count - 1] ^= 1
        #expect(status { _ = try open(.detached(bytes)) } == .invalidParameter)
        #expect(keychain.suspects.take().isEmpty, "no row of the store is suspected")
    }
}
