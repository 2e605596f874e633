// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SimulatedDriver
import SystemDriver
import TPMDriver
import TPMProtocol
import TestSupport

/// A store's folder and a software TPM of its own.
final class TPMFixture {
    let tpm: SwitchedTPM
    let bus: TPMBus
    let chip: TPMChip
    let temporary: TemporaryFolder
    let folder: StoreFolder

    static let code = SecretBytes("0123456789ABCDEFGHJKMNPQRST".utf8)

    /// Starts a TPM.
    ///
    /// - Parameters:
    ///   - other: the fixture whose folder is used, as if its machine had got another TPM; nil for a new one.
    ///   - ownerPassword: the password of the owner hierarchy that the driver has; nil for none.
    init(folderOf other: TPMFixture? = nil, ownerPassword: [UInt8]? = nil) throws {
        tpm = try SwitchedTPM()
        bus = TPMBus(tpm.path)
        chip = TPMChip(
            bus, clock: VirtualClock(), random: SystemRandomSource(),
            ownerPassword: ownerPassword.map { SecretBytes($0) })
        temporary = try other?.temporary ?? TemporaryFolder()
        folder = StoreFolder(temporary.path)
    }

    /// Opens the vault; all vaults of a fixture share one connection.
    func open(owner: [UInt8] = [1]) -> TPMKeyVault {
        TPMKeyVault(FileKeyVault(folder), rootKey: folder.rootKey, chip: chip, owner: owner)
    }

    /// Makes a vault with the root key of the contract tests.
    func make(_ binding: TPMKeyVault.Binding = .chip, code: SecretBytes? = TPMFixture.code) throws -> TPMKeyVault {
        let vault = open()
        try Files.replace(folder.rootKey, with: vault.seal(Driver.rootKey, binding, recoveryCode: code))
        return vault
    }

    /// The bytes of `root.key`.
    func rootKeyFile() throws -> [UInt8]? { try Files.read(folder.rootKey, limit: 4096)?.copyBytes() }

    // MARK: - What another program does to the TPM

    /// The handles of persistent keys or of indices.
    func handles(from first: UInt32) throws -> [UInt32] {
        var parameters = TPMWriter()
        for number in [1, first, 100] as [UInt32] { parameters.add(number) }
        var reader = TPMReader(try bus.send(0x17a, [], parameters.bytes, hasPassword: false).response.dropFirst(15))
        return try (0..<reader.uint32()).map { _ in try reader.uint32() }
    }

    /// The handles of the indices in Latchkey's range.
    func counters() throws -> [UInt32] { try handles(from: 0x0181_4c00).filter { $0 < 0x0181_4d00 } }

    /// `TPM2_NV_UndefineSpace`.
    func removeCounters() throws {
        for handle in try counters() { try bus.send(0x122, [0x4000_0001, handle]) }
    }

    /// `TPM2_NV_DefineSpace`; returns the code.
    @discardableResult
    func define(_ area: TPMIndexArea, password: [UInt8] = []) throws -> UInt32 {
        var parameters = TPMWriter()
        try parameters.add(sized: password)
        try parameters.add(sized: area.encoded())
        return try bus.send(0x12a, [0x4000_0001], parameters.bytes).code
    }

    /// Defines indices until there is no room for another one.
    func fillIndices() throws {
        var next = UInt32(0x0190_0000)
        for size in [2048, 256, 32] as [UInt16] { try fill(size, [], &next) }
        // A TPM has some room for counters only.
        try fill(8, .counter, &next)
    }

    private func fill(_ size: UInt16, _ type: TPMIndexAttributes, _ next: inout UInt32) throws {
        while next < 0x0190_4000 {
            let code = try define(
                TPMIndexArea(
                    handle: TPMHandle(next), attributes: type.union([.authorizationReads, .authorizationWrites]),
                    policy: [], size: size))
            if code == 0x14b { return }
            guard code == 0 else { throw Failure(.internalFailure, "an index was refused: \(code)") }
            next += 1
        }
    }

    /// `TPM2_EvictControl` of a persistent key.
    func evict(_ handle: UInt32) throws {
        var parameters = TPMWriter()
        parameters.add(handle)
        try bus.send(0x120, [0x4000_0001, handle], parameters.bytes)
    }

    /// `TPM2_CreatePrimary` of another key, and `TPM2_EvictControl` to the handle of the storage root key.
    func putForeignKey(at handle: UInt32) throws {
        var area = TPMPublicArea.storageRoot
        area.attributes.remove(.withoutLockout)
        try put(area, password: [], at: handle)
    }

    /// Stores a primary key with that password.
    func put(_ area: TPMPublicArea, password: [UInt8], at handle: UInt32) throws {
        var parameters = TPMWriter()
        var sensitive = TPMWriter()
        try sensitive.add(sized: password)
        try sensitive.add(sized: [])
        try parameters.add(sized: sensitive.bytes)
        try parameters.add(sized: area.encoded())
        try parameters.add(sized: [])
        parameters.add(UInt32(0))
        var made = TPMReader(try bus.send(0x131, [0x4000_0001], parameters.bytes).response.dropFirst(10))
        let transient = try made.uint32()
        var target = TPMWriter()
        target.add(handle)
        try bus.send(0x120, [0x4000_0001, transient], target.bytes)
        var flush = TPMWriter()
        flush.add(transient)
        try bus.send(0x165, [], flush.bytes, hasPassword: false)
    }

    /// `TPM2_Clear`.
    func clear() throws { try bus.send(0x126, [0x4000_000a]) }

    /// `TPM2_HierarchyChangeAuth` of the owner.
    func setOwnerPassword(_ password: [UInt8] = [1, 2, 3]) throws {
        var parameters = TPMWriter()
        try parameters.add(sized: password)
        try bus.send(0x129, [0x4000_0001], parameters.bytes)
    }

    /// `TPM2_PCR_Extend` of PCR 7, as a firmware with other keys does.
    func extendSecureBoot() throws {
        try bus.send(0x182, [7], [0, 0, 0, 1, 0, 0x0b] + [UInt8](repeating: 0x33, count: 32))
    }
}
