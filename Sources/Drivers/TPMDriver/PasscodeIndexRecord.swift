// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// What is stored of a passcode that a TPM verifies: the index, and two secrets that only the TPM decrypts for the right
/// passcode. The bytes are `version (01) ‖ 2B storage root key ‖ u32 handle ‖ 2B public reset key ‖ 2B area ‖ 2B
/// private part ‖ 2B reset key`; the reset key is encrypted under the sealed secret.
struct PasscodeIndexRecord: Sendable {
    /// The name of the storage root key.
    let parent: [UInt8]
    let handle: TPMHandle
    let resetPoint: TPMPoint
    let area: TPMSealedArea
    let privatePart: [UInt8]
    let hiddenResetKey: [UInt8]

    private static let version: UInt8 = 1

    init(
        parent: [UInt8], handle: TPMHandle, resetPoint: TPMPoint, area: TPMSealedArea, privatePart: [UInt8],
        hiddenResetKey: [UInt8]
    ) {
        (self.parent, self.handle, self.resetPoint) = (parent, handle, resetPoint)
        (self.area, self.privatePart, self.hiddenResetKey) = (area, privatePart, hiddenResetKey)
    }

    /// Decodes a record. Throws `storeUnreadable` unless it has exactly this form.
    init(_ bytes: [UInt8]) throws(Failure) {
        do throws(Failure) {
            var reader = TPMReader(bytes)
            guard try reader.uint8() == Self.version else { throw TPMReader.malformed }
            parent = try reader.sized(limit: 34)
            handle = TPMHandle(try reader.uint32())
            guard PasscodeIndex.handles.contains(handle.number),
                let point = TPMPoint(try reader.sized(limit: 65))
            else { throw TPMReader.malformed }
            resetPoint = point
            area = try TPMSealedArea(decoding: try reader.sized(limit: 128))
            privatePart = try reader.sized(limit: 512)
            hiddenResetKey = try reader.sized(limit: 64)
            try reader.checkEnd()
        } catch {
            throw Self.unreadable(error)
        }
    }

    static func unreadable(_ cause: any Error) -> Failure {
        Failure(
            .storeUnreadable, "The record of the passcode is not one of this version, or it was changed.",
            hint: "Restore the folder of latchkey-authd from a backup.", cause: cause)
    }

    func encoded() throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add([Self.version])
        try writer.add(sized: parent)
        writer.add(handle)
        for field in [resetPoint.external, try area.encoded(), privatePart, hiddenResetKey] {
            try writer.add(sized: field)
        }
        return writer.bytes
    }

    func index() throws(Failure) -> PasscodeIndex { try PasscodeIndex(at: handle, resetBy: resetPoint) }

    // MARK: - The reset key

    /// Encrypts a reset key under the sealed secret.
    static func hide(
        _ resetKey: SecretBytes, under secret: SecretBytes, _ random: any RandomSource
    ) throws(Failure) -> [UInt8] {
        try SymmetricKey.combining([secret], label: .passcodeReset).seal(
            resetKey, nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(),
            authenticating: CryptographicLabel.passcodeReset.bytes)
    }

    func resetKey(_ secret: SecretBytes) throws(Failure) -> ApprovalSigner {
        let key = try SymmetricKey.combining([secret], label: .passcodeReset)
        guard
            let scalar = try key.open(hiddenResetKey, authenticating: CryptographicLabel.passcodeReset.bytes),
            let signer = ApprovalSigner(scalar), signer.publicKey == resetPoint.external
        else {
            throw Failure(
                .storeUnreadable, "The record of the passcode was changed: its reset key does not belong to it.",
                hint: "Restore the folder of latchkey-authd from a backup.")
        }
        return signer
    }
}

/// Where the index of a passcode is going to be, stored before it is defined: if the process ends in between, the index
/// is found and removed. The bytes are `version (02) ‖ u32 handle ‖ 2B public reset key`.
struct PasscodeIndexPlan: Sendable {
    let handle: TPMHandle
    let resetPoint: TPMPoint

    private static let version: UInt8 = 2

    init(handle: TPMHandle, resetPoint: TPMPoint) { (self.handle, self.resetPoint) = (handle, resetPoint) }

    /// Decodes a plan. Throws `storeUnreadable` unless it has exactly this form.
    init(_ bytes: [UInt8]) throws(Failure) {
        do throws(Failure) {
            var reader = TPMReader(bytes)
            guard try reader.uint8() == Self.version else { throw TPMReader.malformed }
            handle = TPMHandle(try reader.uint32())
            guard PasscodeIndex.handles.contains(handle.number),
                let point = TPMPoint(try reader.sized(limit: 65))
            else { throw TPMReader.malformed }
            resetPoint = point
            try reader.checkEnd()
        } catch {
            throw PasscodeIndexRecord.unreadable(error)
        }
    }

    /// Takes the place of a plan, or of the record of a passcode.
    init(anyOf bytes: [UInt8]) throws(Failure) {
        guard bytes.first != Self.version else {
            self = try PasscodeIndexPlan(bytes)
            return
        }
        let record = try PasscodeIndexRecord(bytes)
        self.init(handle: record.handle, resetPoint: record.resetPoint)
    }

    func encoded() throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add([Self.version])
        writer.add(handle)
        try writer.add(sized: resetPoint.external)
        return writer.bytes
    }

    func index() throws(Failure) -> PasscodeIndex { try PasscodeIndex(at: handle, resetBy: resetPoint) }
}
