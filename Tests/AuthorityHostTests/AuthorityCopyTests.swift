// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyAuthority
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

@testable import AuthorityDaemon

/// Files of latchkey-authd that were lost, in tier `tpm`: the recovery code restores the key that approves uses of keys, and
/// the passcode, with the copy that latchkeyd has stored.
@Suite(.needs(.softwareTPM)) struct AuthorityCopyTests {
    private let machine: TwoServices
    private let tpm: SwitchedTPM
    private static let right: [Reply] = [.proven([.passcode])]
    private static let digest = [UInt8](repeating: 0xa5, count: 32)

    init() throws {
        tpm = try SwitchedTPM()
        machine = try TwoServices(tpm: tpm, sealed: true)
    }

    // MARK: - What a person does, and what is lost

    /// Sets a passcode, adds an item that needs it and a key of a finger, and returns the recovery code.
    private func prepare() throws -> (code: String, key: EnclaveKey) {
        #expect(machine.setPasscode("first passcode") == [.done])
        let code = machine.shownCode
        #expect(machine.type("first passcode") == Self.right)
        try machine.addSecret()
        return (code, try #require(machine.makeKey()))
    }

    /// Starts both services again after something has happened to the files.
    private func restart(_ machine: TwoServices, _ happened: (FileManager, String) throws -> Void) throws -> TwoServices
    {
        machine.end()
        try happened(.default, machine.disk.folder.path)
        return try TwoServices(after: machine.disk, tpm: tpm, sealed: true)
    }

    private func losingFolder(_ machine: TwoServices) throws -> TwoServices {
        try restart(machine) { try $0.removeItem(atPath: $1 + "/\(TwoServices.userID)") }
    }

    private func losingKey(_ machine: TwoServices) throws -> TwoServices {
        try restart(machine) { try $0.removeItem(atPath: $1 + "/\(TwoServices.userID)/approval") }
    }

    private func isRecovered(_ replies: [Reply]) -> Bool {
        if case .recovered? = replies.last { true } else { false }
    }

    private func copy(_ machine: TwoServices) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: machine.disk.sealed.recoveryCopy)))
    }

    // MARK: - Losses

    @Test func theCodeRestoresALostKeyOfTheAuthority() throws {
        let (code, key) = try prepare()
        #expect(try machine.sign(key, Self.digest) == nil)
        let again = try losingKey(machine)
        #expect(again.type("first passcode") == Self.right)
        #expect(try again.sign(key, Self.digest) == .storeUnreadable, "no other key is made in its place")
        #expect(again.makeKey() == nil)
        #expect(isRecovered(again.recover(code, "second passcode")))
        #expect(try again.sign(key, Self.digest) == nil)
        #expect(again.makeKey() != nil)
    }

    @Test func theCodeRestoresALostFolder() throws {
        let (code, key) = try prepare()
        let again = try losingFolder(machine)
        // Without counters tries count as used up, so neither a finger nor a passcode is accepted.
        #expect(again.authority.state.passcodeFailures > 0)
        #expect(again.makeKey() == nil, "no other key of the authority is made")
        #expect(!isRecovered(again.recover("00000-00000-00000-00000-000000", "second passcode")))
        #expect(isRecovered(again.recover(code, "second passcode")))
        #expect(again.type("second passcode") == Self.right)
        #expect(try again.secret() == Array("secret".utf8))
        #expect(try again.sign(key, Self.digest) == nil)
        #expect(isRecovered(again.recover(again.shownCode, "third passcode")))
    }

    @Test func theCopyFollowsChangesOfThePasscodeAndOfTheCode() throws {
        let (code, key) = try prepare()
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
        machine.enterNew("changed passcode")
        #expect(replies() == [.done])
        let once = try losingFolder(machine)
        #expect(isRecovered(once.recover(code, "second passcode")))
        let next = once.shownCode
        let twice = try losingFolder(once)
        #expect(!isRecovered(twice.recover(code, "third passcode")))
        #expect(isRecovered(twice.recover(next, "third passcode")))
        #expect(try twice.secret() == Array("secret".utf8))
        #expect(try twice.sign(key, Self.digest) == nil)
    }

    @Test func aCopyThatIsMissingIsMadeAgainWhenTheUserIsAttached() throws {
        let (code, _) = try prepare()
        let before = try copy(machine)
        let again = try restart(machine) { try $0.removeItem(atPath: $1 + "/store/recovery") }
        #expect(try copy(again) == before)
        #expect(isRecovered(try losingFolder(again).recover(code, "second passcode")))
    }

    @Test func aRemovedPasscodeLeavesNoCopy() throws {
        let (code, _) = try prepare()
        let replies = machine.answers(machine.session(), .passcode(.remove))
        machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
        #expect(replies() == [.done])
        #expect(try copy(machine) == FileMark.recoveryCopy.bytes)
        #expect(!isRecovered(try losingFolder(machine).recover(code, "second passcode")))
    }

    // MARK: - A latchkeyd that hands back something else

    /// The record of an earlier code, and any other bytes, restore nothing.
    @Test func anEarlierOrADamagedCopyIsRefused() throws {
        let (code, _) = try prepare()
        let earlier = try copy(machine)
        #expect(isRecovered(machine.recover(code, "second passcode")))
        let (next, present) = (machine.shownCode, try copy(machine))
        var damaged = present
        damaged[damaged.count - 1] ^= 1
        var last = machine
        for bytes in [earlier, damaged, Array(present.dropLast()), FileMark.recoveryCopy.bytes, [7]] {
            last = try restart(last) { files, path in
                try? files.removeItem(atPath: path + "/\(TwoServices.userID)")
                try Data(bytes).write(to: URL(filePath: path + "/store/recovery"))
            }
            for code in [next, code] { #expect(!isRecovered(last.recover(code, "third passcode"))) }
            #expect(try last.records() == PasscodeRecords())
            #expect(try last.authorityFolder().storedApprovalKey() == nil)
        }
        last = try restart(last) { try Data(present).write(to: URL(filePath: $1 + "/store/recovery")) }
        #expect(isRecovered(last.recover(next, "third passcode")))
    }

    /// Why a recovery with the valid code is refused after the folder of latchkey-authd was lost and something has happened
    /// to the copy at that path. Nothing is made or changed.
    private func refusal(_ happened: (String) throws -> Void) throws -> Failure {
        let (code, _) = try prepare()
        let last = try restart(machine) { files, path in
            try files.removeItem(atPath: path + "/\(TwoServices.userID)")
            try happened(path + "/store/recovery")
        }
        let before = try last.disk.files().filter { $0.key.hasPrefix("store/") }
        guard case .failure(let failure)? = last.recover(code, "second passcode").last else {
            Issue.record("the recovery was not refused")
            throw Failure(.internalFailure)
        }
        #expect(try last.records() == PasscodeRecords())
        #expect(try last.authorityFolder().storedApprovalKey() == nil)
        #expect(try last.disk.files().filter { $0.key.hasPrefix("store/") } == before)
        return failure
    }

    private func write(_ bytes: [UInt8]) -> (String) throws -> Void {
        { try Data(bytes).write(to: URL(filePath: $0)) }
    }

    /// In the header, in the form, in the public key, in the sealed keys and at the end.
    @Test(arguments: [
        (0, "was changed by another program"), (25, "copy of the recovery records is damaged"),
        (40, "belongs to another code or is damaged"), (150, "copy of the recovery records is damaged"),
        (-1, "copy of the recovery records is damaged"),
    ]) func theRefusalOfADamagedCopyNamesTheCopy(offset: Int, message: String) throws {
        let failure = try refusal { path in
            var bytes = Array(try Data(contentsOf: URL(filePath: path)))
            bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
            try Data(bytes).write(to: URL(filePath: path))
        }
        #expect(failure.status == .storeUnreadable)
        #expect(failure.message.contains(message), "\(failure.message)")
        #expect(failure.hint.contains("backup"))
    }

    @Test func theRefusalOfACopyOfAnUnknownVersionNamesTheVersion() throws {
        let failure = try refusal(write(Array("latchkey recovery copy 2\n".utf8) + [1, 2, 3]))
        #expect(failure.status == .storeUnreadable)
        #expect(failure.message.contains("recovery is of a version that this Latchkey does not read"))
        #expect(failure.hint.contains("newest version of Latchkey"))
    }

    @Test func theRefusalOfAnEmptyCopySaysThatItIsEmpty() throws {
        let failure = try refusal(write([]))
        #expect(failure.status == .storeUnreadable)
        #expect(failure.message.contains("recovery is empty"))
        #expect(failure.hint.contains("backup"))
    }

    /// The header alone is what a removed passcode leaves; but `root.key` has a code.
    @Test(arguments: [true, false]) func theRefusalWithoutACopySaysThatItIsMissing(hasFile: Bool) throws {
        let failure = try refusal { path in
            if hasFile {
                try write(FileMark.recoveryCopy.bytes)(path)
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
        }
        #expect(failure.status == .storeUnreadable)
        #expect(failure.message.contains("the keychain has no copy of the recovery records"))
        #expect(failure.hint.contains("backup"))
    }

    @Test func theRefusalOfAnUnreadableCopyNamesTheSystemsError() throws {
        let failure = try refusal { path in
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        #expect(failure.status == .storeUnreadable)
        #expect(failure.message.contains("recovery cannot be read: "))
        #expect(failure.hint.contains("Make it a readable file"))
    }

    @Test func withoutAPasscodeTheRefusalSaysThatThereIsNoCode() throws {
        guard case .failure(let failure)? = machine.recover("00000-00000-00000-00000-000000", "a passcode").last else {
            Issue.record("the recovery was not refused")
            return
        }
        #expect(failure.status == .passcodeNotSet)
        #expect(failure.message.hasPrefix("There is no recovery code"))
    }

    /// The counters remain, so that the passcode is asked for.
    @Test func aPasscodeWhoseRecordIsLostIsRefusedWithTheWayOut() throws {
        _ = try prepare()
        let last = try restart(machine) { try $0.removeItem(atPath: $1 + "/\(TwoServices.userID)/passcodes") }
        guard case .failure(let failure)? = last.type("first passcode").last else {
            Issue.record("the passcode was not refused")
            return
        }
        #expect(failure.status == .storeUnreadable)
        #expect(failure.message == "The record of the passcode is missing.")
        #expect(failure.hint.hasSuffix("latchkey recover"))
    }

    /// It is sealed under the valid code, but has the key of an earlier slot only.
    @Test func anEarlierCopyOfTheSameCodeChangesNothing() throws {
        let (code, key) = try prepare()
        let earlier = try copy(machine)
        let replies = machine.answers(machine.session(), .passcode(.changeAtPrompt))
        machine.world.perform(.passcode(SecretBytes("first passcode".utf8)))
        machine.enterNew("changed passcode")
        #expect(replies() == [.done])
        let present = try copy(machine)
        var last = try restart(machine) {
            try $0.removeItem(atPath: $1 + "/\(TwoServices.userID)")
            try Data(earlier).write(to: URL(filePath: $1 + "/store/recovery"))
        }
        guard case .failure(let failure)? = last.recover(code, "third passcode").last else {
            Issue.record("the recovery was not refused")
            return
        }
        #expect(failure.message == "The records of the recovery code are older than the keychain.")
        #expect(try last.records() == PasscodeRecords() && copy(last) == earlier)
        last = try restart(last) { try Data(present).write(to: URL(filePath: $1 + "/store/recovery")) }
        #expect(isRecovered(last.recover(code, "third passcode")), "root.key is still that of the code")
        #expect(try last.secret() == Array("secret".utf8))
        #expect(try last.sign(key, Self.digest) == nil)
    }

    /// Who has the public key of a code can encrypt keys of slots for it, but cannot seal a key of the authority.
    @Test func aKeyOfTheAuthorityThatTheCodeHasNotSealedIsRefused() throws {
        let (random, chosen) = (SystemRandomSource(), SecretBytes([UInt8](repeating: 5, count: 32)))
        let (code, other) = (try RecoveryCode.make(), try RecoveryCode.make())
        let (keys, others) = (try #require(try RecoveryKeys(code)), try #require(try RecoveryKeys(other)))
        let passcodeID = [UInt8](repeating: 3, count: 16)
        func record(_ keys: RecoveryKeys, user: UInt32 = 1000, _ passcodeID: [UInt8]) throws -> RecoveryRecord {
            try keys.record(of: [chosen], approvalKey: chosen, userID: user, passcodeID: passcodeID, random)
        }
        func mixed(_ sealed: RecoveryRecord, with approval: RecoveryRecord) throws -> RecoveryRecord {
            try #require(
                RecoveryRecord(
                    publicKey: sealed.publicKey, passcodeID: sealed.passcodeID, sealed: sealed.sealed,
                    approval: approval.approval))
        }
        let right = try record(keys, passcodeID)
        #expect(try keys.open(right, userID: 1000).approvalKey == chosen)
        let foreign = [
            try mixed(right, with: record(others, passcodeID)), try record(keys, user: 1001, passcodeID),
            try mixed(right, with: record(keys, [UInt8](repeating: 4, count: 16))), try record(others, passcodeID),
        ]
        for record in foreign { #expect(throws: Failure.self) { try keys.open(record, userID: 1000) } }
    }

    @Test func theKeyOfTheAuthorityIsInNoMessageAndInNoFileOfLatchkeyd() throws {
        let (code, _) = try prepare()
        let key = try #require(try machine.authorityFolder().storedApprovalKey()).copyBytes()
        let again = try losingFolder(machine)
        #expect(isRecovered(again.recover(code, "second passcode")))
        #expect(try again.authorityFolder().storedApprovalKey()?.copyBytes() == key)
        for frame in machine.frames + again.frames { #expect(!frame.copyBytes().contains(key)) }
        for (name, data) in try again.disk.files() where name.hasPrefix("store/") {
            #expect(!Array(data).contains(key), "\(name)")
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}

extension TwoServices {
    /// Makes a key of the TPM that a finger releases; nil if that is refused.
    fileprivate func makeKey() -> EnclaveKey? {
        let request = Request.CreateEnclaveKey(
            attributes: [.label: .text("\(UInt64.random(in: 0...UInt64.max))")],
            accessControl: AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: [.biometryAny, .privateKeyUsage]),
            isPermanent: true, authentication: Authentication())
        guard case .enclaveKey(let key)? = answers(session(), .createEnclaveKey(request))().last else { return nil }
        return key
    }

    /// Types a passcode in place of a touch.
    fileprivate func type(_ passcode: String) -> [Reply] {
        let replies = evaluate()
        if seen.shown?.asks(for: .biometry) == true {
            // The button for the passcode is shown after a failed touch.
            _ = try? world.apply(.touch(matching: false))
            world.perform(.fallback)
        }
        if replies().isEmpty { world.perform(.passcode(SecretBytes(passcode.utf8))) }
        if replies().isEmpty { world.perform(.cancel) }
        return replies()
    }

    /// Signs with a touch; returns the status of a refusal, nil if the signature is right.
    fileprivate func sign(_ key: EnclaveKey, _ digest: [UInt8]) throws -> Status? {
        let request = Request.UseEnclaveKey(
            name: key.name, operation: .sign(digest: digest), authentication: Authentication())
        let replies = answers(session(), .useEnclaveKey(request))
        _ = try world.apply(.touch(matching: true))
        if replies().isEmpty { world.perform(.cancel) }
        return try key.verify(replies().last, digest)
    }
}
