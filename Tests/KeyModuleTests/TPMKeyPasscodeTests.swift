// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import TPMDriver
import TestPromises
import TestSupport
import Testing

/// Keys that demand the passcode of the TPM itself, in each way, on the driver alone.
@Suite(.needs(.softwareTPM), .ownTPM) struct TPMKeyPasscodeTests {
    private let keys = TPMPasscodeKeys(TPMOfThisTest.chip)
    private var module: TPMEnclave { keys.module }
    private var passcodes: TPMPasscodeChip { keys.passcodes }
    private static let value = TPMPasscodeKeys.value
    private static let password = SecretBytes([UInt8](repeating: 7, count: 32))
    private static let digest = TPMPasscodeKeys.digest

    private func make(
        _ part: PasscodeDemand.Part, password: SecretBytes? = nil
    ) throws -> (key: ModuleKey, record: [UInt8]) { try keys.make(part, password: password) }

    private func begin(_ key: ModuleKey, _ digest: [UInt8] = Self.digest) throws -> KeyChallenge {
        try keys.begin(key, digest)
    }

    /// Proves the passcode for what a challenge is for, or for another one.
    private func prove(_ challenge: KeyChallenge, _ record: [UInt8], for other: KeyChallenge? = nil) throws {
        #expect(try keys.isProven(challenge, record, for: other))
    }

    /// Finishes a use; returns the status of a refusal.
    private func finish(
        _ challenge: KeyChallenge, isSigned: Bool, isPasscodeProven: Bool, password: SecretBytes? = nil
    ) throws -> Status? {
        status {
            try keys.finish(
                challenge, isSigned: isSigned, isPasscodeProven: isPasscodeProven, password: password)
        }
    }

    /// The proofs that each way accepts: signed, passcode.
    private static func accepted(_ part: PasscodeDemand.Part) -> [[Bool]] {
        switch part {
        case .alone: [[false, true]]
        case .either: [[true, false], [false, true]]
        case .both: [[true, true]]
        }
    }

    @Test(arguments: [(PasscodeDemand.Part.alone, true), (.both, true), (.either, false)])
    func aKeyIsLostWithThePasscodeUnlessAFingerReleasesIt(_ part: PasscodeDemand.Part, _ isLost: Bool) throws {
        #expect(try module.needsPasscode(make(part).key.blob) == isLost)
        #expect(try !module.needsPasscode(module.newKey().blob))
        #expect(throws: Failure(.internalFailure)) { try module.needsPasscode(SecretBytes([5])) }
    }

    @Test(arguments: PasscodeDemand.Part.allCases, [false, true])
    func aKeyIsUsedWithTheProofsOfItsPolicyAndNoOthers(_ part: PasscodeDemand.Part, _ hasPassword: Bool) throws {
        let password = hasPassword ? Self.password : nil
        let (key, record) = try make(part, password: password)
        for isSigned in [false, true] {
            for isProven in [false, true] {
                let challenge = try begin(key)
                if isProven { try prove(challenge, record) }
                let refusal = try finish(
                    challenge, isSigned: isSigned, isPasscodeProven: isProven, password: password)
                let isAccepted = Self.accepted(part).contains([isSigned, isProven])
                #expect(refusal == (isAccepted ? nil : .itemAuthenticationFailed), "\(isSigned) \(isProven)")
            }
        }
    }

    /// latchkey-authd says that it has proven the passcode, and has not: the TPM refuses the key.
    @Test(.promise("attacker.authd"), arguments: PasscodeDemand.Part.allCases)
    func aPasscodeThatIsOnlySaidToBeProvenIsWorthNothing(_ part: PasscodeDemand.Part) throws {
        let (key, _) = try make(part)
        let challenge = try begin(key)
        #expect(
            try finish(challenge, isSigned: part == .both, isPasscodeProven: true) == .itemAuthenticationFailed)
    }

    @Test func aProofIsForOneCommandOfOneSession() throws {
        let (key, record) = try make(.alone)
        let (first, second) = (try begin(key), try begin(key, [UInt8](repeating: 1, count: 32)))
        try prove(first, record, for: second)
        #expect(try finish(first, isSigned: false, isPasscodeProven: true) == .itemAuthenticationFailed)
        #expect(try finish(second, isSigned: false, isPasscodeProven: true) == .itemAuthenticationFailed)
        let third = try begin(key)
        try prove(third, record)
        #expect(try finish(third, isSigned: false, isPasscodeProven: true) == nil)
        // The session is cached for the next use, and its policy is restarted.
        let fourth = try begin(key)
        #expect(try finish(fourth, isSigned: false, isPasscodeProven: true) == .itemAuthenticationFailed)
    }

    @Test func thePasswordIsNeededAfterThePasscode() throws {
        for part in PasscodeDemand.Part.allCases {
            let (key, record) = try make(part, password: Self.password)
            for wrong in [nil, Self.value] {
                let challenge = try begin(key)
                try prove(challenge, record)
                #expect(
                    try finish(challenge, isSigned: part == .both, isPasscodeProven: true, password: wrong)
                        == .itemAuthenticationFailed)
            }
        }
    }

    /// The index was removed, and another one is at its handle: the key is lost, and the refusal is one of the TPM.
    @Test func anotherIndexAtTheSameHandleOpensNothing() throws {
        let (key, record) = try make(.alone)
        try passcodes.remove(record)
        let other = try passcodes.create(passcodes.plan(), Self.value).record
        let challenge = try begin(key)
        try prove(challenge, other)
        #expect(try finish(challenge, isSigned: false, isPasscodeProven: true) == .itemAuthenticationFailed)
    }

    @Test func aBlobWithAnotherDemandIsRefused() throws {
        let (key, _) = try make(.alone)
        let bytes = key.blob.copyBytes()
        func refusal(_ blob: [UInt8]) -> Status? {
            status { _ = try module.begin(SecretBytes(blob), .sign(digest: Self.digest)) }
        }
        #expect(bytes[0] == 5)
        // The way, and the name of the index after its length.
        let demand: [UInt8] = [PasscodeDemand.Part.alone.rawValue, 0, 34, 0, 0x0b]
        let place = try #require(bytes.indices.last { bytes[$0...].starts(with: demand) })
        for part in [0, 2, 3, 4, 255] as [UInt8] {
            var changed = bytes
            changed[place] = part
            #expect(refusal(changed) == .internalFailure)
        }
        var older = bytes
        older[0] = 3
        #expect(refusal(older) == .internalFailure)
    }
}
