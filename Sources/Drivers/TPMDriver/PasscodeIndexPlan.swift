// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

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
