// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeys
import LatchkeyModel
import TPMProtocol
import TestSupport
import Testing

@testable import TPMDriver

/// Shows that a passcode can be checked by a TPM whose commands another process carries: nothing in `Sources` uses this
/// yet. The name of an index does not contain its value, so the order of the steps is what keeps a carrier from choosing
/// the passcode.
@Suite(.needs(.softwareTPM)) struct PasscodeIndexTests {
    private let machine: TPMFixture
    private let index: PasscodeIndex
    private static let passcode = SecretBytes([UInt8](0x41..<0x61))
    private static let other = SecretBytes([UInt8](0x61..<0x81))

    init() throws {
        machine = try TPMFixture()
        index = try PasscodeIndex(.generate(.p256), machine.bus)
    }

    /// Runs commands; returns the code of the one that the TPM refused.
    @discardableResult
    private func refusal(_ body: (inout TPMClient) throws -> Void) throws -> UInt32? {
        let failed = try machine.chip.use { (_, client) throws(TPMError) -> (code: UInt32?, error: (any Error)?) in
            do {
                try body(&client)
                return (nil, nil)
            } catch {
                if case .refused(let code, _) = error as? TPMError { return (code.rawValue, nil) }
                return (nil, error)
            }
        }
        if let error = failed.error { throw error }
        return failed.code
    }

    /// The steps of the provisioning. The index is blocked from its first write until it has its value.
    private func provision(plantedValue: [UInt8] = []) throws {
        _ = try refusal { _ = try $0.storageRoot(named: nil) }
        #expect(try machine.define(index.unwritten, password: plantedValue) == 0)
        #expect(try refusal { try index.check(SecretBytes([]), &$0) } != nil, "not usable before the first write")
        #expect(try refusal { try index.write(PasscodeIndex.limit, isWritten: false, &$0) } == nil)
        #expect(try refusal { try index.check(SecretBytes([]), &$0) } == 0x12f, "blocked")
        #expect(try refusal { try index.change(to: Self.passcode, &$0) } == nil)
        #expect(try refusal { try index.check(Self.passcode, &$0) } == 0x12f, "still blocked")
        #expect(try refusal { try index.write(0, isWritten: true, &$0) } == nil)
    }

    @Test func theOrderOfProvisioningGivesAnIndexThatOnlyThePasscodeOpens() throws {
        try provision()
        #expect(try refusal { try index.check(Self.passcode, &$0) } == nil)
        #expect(try refusal { try index.check(SecretBytes([]), &$0) } == 0x9a2)
        #expect(try refusal { try index.check(Self.other, &$0) } == 0x9a2)
        let value = Self.passcode.copyBytes()
        #expect(!machine.bus.capture.contains(Array(value.prefix(8))))
        #expect(!machine.bus.capture.contains(Array(value.suffix(8))))
    }

    @Test func aValueThatTheCarrierPlantedOpensNothing() throws {
        try provision(plantedValue: [7])
        #expect(try refusal { try index.check(SecretBytes([7]), &$0) } == 0x9a2)
        #expect(try refusal { try index.check(Self.passcode, &$0) } == nil)
    }

    @Test func aChangeThatTheCarrierAltersIsRefused() throws {
        try provision()
        machine.bus.change(responsesTo: .nvChangeAuthorization, .last)
        #expect(throws: (any Error).self) { try refusal { try index.change(to: Self.other, &$0) } }
    }

    /// A carrier cannot turn a "wrong" into a "right": it lacks the key of the session.
    @Test func aChangedResponseIsNoProofOfThePasscode() throws {
        try provision()
        machine.bus.change(responsesTo: .policySecret, .last)
        #expect(throws: (any Error).self) { try refusal { try index.check(Self.passcode, &$0) } }
    }

    @Test func theLimitSurvivesAPowerCutAndOnlyTheResetKeyEndsIt() throws {
        try provision()
        for _ in 0..<PasscodeIndex.limit - 1 {
            #expect(try refusal { try index.check(Self.other, &$0) } == 0x9a2)
        }
        machine.tpm.cutPower()
        #expect(throws: (any Error).self) { try refusal { try index.check(Self.other, &$0) } }
        try machine.tpm.start()
        #expect(try refusal { try index.check(Self.other, &$0) } == 0x9a2)
        #expect(try refusal { try index.check(Self.passcode, &$0) } == 0x12f)
        let foreign = try PasscodeIndex(.generate(.p256), machine.bus)
        #expect(try refusal { try foreign.write(0, isWritten: true, &$0) } != nil)
        #expect(try refusal { try index.write(0, isWritten: true, &$0) } == nil)
        #expect(try refusal { try index.check(Self.passcode, &$0) } == nil)
    }

    /// After the passcode was forgotten and the tries are used up.
    @Test func theResetKeyReplacesAValueThatItDoesNotKnow() throws {
        try provision()
        for _ in 0..<PasscodeIndex.limit { try refusal { try index.check(Self.passcode.wrong, &$0) } }
        #expect(try refusal { try index.check(Self.passcode, &$0) } == 0x12f)
        #expect(try refusal { try index.change(to: Self.other, &$0) } == nil)
        #expect(try refusal { try index.check(Self.other, &$0) } == 0x12f)
        #expect(try refusal { try index.write(0, isWritten: true, &$0) } == nil)
        #expect(try refusal { try index.check(Self.passcode, &$0) } == 0x9a2)
        #expect(try refusal { try index.check(Self.other, &$0) } == nil)
    }
}

extension SecretBytes {
    /// Another value of the same length.
    fileprivate var wrong: SecretBytes { SecretBytes(copyBytes().map { $0 ^ 1 }) }
}
