// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

/// An index of the TPM whose authorization value is derived from a passcode (`TPM_NT_PIN_FAIL`). The TPM counts wrong
/// values itself, and blocks the index at a limit. Only the reset key writes the counts and changes the value.
///
/// The name of an index does not contain its value. So what the process that carries the commands could set as the value
/// is replaced before the index is used (`docs/design/decisions/025-passcode-index.md`).
struct PasscodeIndex: Sendable {
    /// Wrong values in a row after which the TPM blocks the index.
    static let limit: UInt32 = 20
    /// The handles that Latchkey uses for these indices, beside those of its counters.
    static let handles = UInt32(0x0181_4d00)..<UInt32(0x0181_4e00)

    /// The public area before the first write.
    let area: TPMIndexArea
    let resetKey: TPMPublicArea
    /// The policy of each command, and its digest; the index permits one of them.
    private let reading, writing, changing: PolicyDigest

    /// Describes the index at a handle whose reset key has that public point.
    init(at handle: TPMHandle, resetBy point: TPMPoint) throws(Failure) {
        resetKey = .authority(point)
        let name = try resetKey.name()
        reading = try PolicyDigest().command(.nvRead)
        writing = try PolicyDigest().signed(by: name, reference: []).command(.nvWrite)
        changing = try PolicyDigest().signed(by: name, reference: []).command(.nvChangeAuthorization)
        area = .passcode(at: handle, policy: try PolicyDigest.any(of: [reading, writing, changing]).bytes)
    }

    /// The index as commands refer to it; its name changes with the first write.
    func entity(isWritten: Bool = true) throws(Failure) -> TPMEntity {
        var area = area
        if isWritten { area.attributes.insert(.written) }
        return TPMEntity(area.handle, name: try area.name())
    }

    /// The policy of what only the right value opens.
    func policy() throws(Failure) -> PolicyDigest { try PolicyDigest().secret(of: entity().name) }

    /// The parameters of `TPM2_PolicyOR`.
    func choice() throws(Failure) -> [UInt8] { try PolicyDigest.choice(of: [reading, writing, changing]) }
}

/// How many wrong values an index has counted.
struct PasscodeCount: Equatable, Sendable {
    let wrong: UInt32
    /// The number of wrong values at which the index is blocked.
    let limit: UInt32

    var bytes: [UInt8] {
        var writer = TPMWriter()
        writer.add(wrong)
        writer.add(limit)
        return writer.bytes
    }

    init(wrong: UInt32, limit: UInt32 = PasscodeIndex.limit) { (self.wrong, self.limit) = (wrong, limit) }

    init(decoding bytes: [UInt8]) throws(Failure) {
        var reader = TPMReader(bytes)
        (wrong, limit) = (try reader.uint32(), try reader.uint32())
        try reader.checkEnd()
    }
}
