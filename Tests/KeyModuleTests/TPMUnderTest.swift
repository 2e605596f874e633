// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import SystemDriver
import TPMDriver
import TPMProtocol
import Testing

/// A key module on a software TPM behind a proxy, and uses of its keys.
struct TPMUnderTest {
    static let operation = EnclaveOperation.sign(digest: [UInt8](repeating: 0xa5, count: 32))
    let tpm: ProxiedTPM
    let chip: TPMChip
    let module: TPMEnclave

    /// Creates a module; its chip and itself have the real clock unless a test gives them another one.
    init(chipClock: any Clock = SystemClock(), moduleClock: any Clock = SystemClock()) throws {
        tpm = try ProxiedTPM()
        chip = tpm.chip(chipClock)
        module = TPMEnclave(chip, clock: moduleClock, allowsVirtual: true)
    }

    @discardableResult
    func finish(_ challenge: KeyChallenge, password: SecretBytes? = nil) throws(Failure) -> SecretBytes {
        try module.finish(challenge.use, approval: TestAuthority.approval(of: challenge), password: password)
    }

    @discardableResult
    func use(
        _ key: ModuleKey, _ operation: EnclaveOperation = operation, password: SecretBytes? = nil
    ) throws(Failure) -> SecretBytes {
        try finish(module.begin(key.blob, operation), password: password)
    }

    /// Removes the object at a persistent handle, as another program can.
    func evict(_ handle: UInt32) throws {
        var target = TPMWriter()
        target.add(handle)
        _ = try tpm.send(0x120, handles: [.owner, TPMHandle(handle)], target.bytes, passwords: 1)
    }

    /// Makes a restricted key as another program and stores it at a handle.
    func persist(at handle: UInt32, attributes: UInt32 = 0x0003_0472) throws {
        var template = TPMWriter()
        let area = TPMPublicArea(attributes: TPMObjectAttributes(rawValue: attributes))
        try template.add(sized: [0, 0, 0, 0])
        try template.add(sized: area.encoded())
        try template.add(sized: [])
        template.add(UInt32(0))
        let made = try tpm.send(0x131, handles: [.owner], template.bytes, passwords: 1)
        var reader = TPMReader(made)
        let transient = TPMHandle(try reader.uint32())
        var target = TPMWriter()
        target.add(handle)
        _ = try tpm.send(0x120, handles: [.owner, transient], target.bytes, passwords: 1)
        var flushed = TPMWriter()
        flushed.add(transient)
        _ = try tpm.send(0x165, flushed.bytes)
    }

    /// Loads the public part of a key that is none of the test's.
    func loadOtherObject() throws {
        let point = try #require(TPMPoint(PrivateKey.generate(.p256).publicKey.externalRepresentation))
        var parameters = TPMWriter()
        try parameters.add(sized: [])
        try parameters.add(sized: TPMPublicArea.authority(point).encoded())
        parameters.add(TPMHandle.owner)
        _ = try tpm.send(0x167, parameters.bytes)
    }

    /// Checks that an idle chip leaves no object and no session in the TPM.
    func expectNothingHeld(sourceLocation: SourceLocation = #_sourceLocation) throws {
        tpm.inject(nil)
        chip.release()
        for kind in [0x80, 0x02, 0x03] as [UInt32] {
            #expect(try tpm.handles(kind).isEmpty, "kind \(kind)", sourceLocation: sourceLocation)
        }
    }
}
