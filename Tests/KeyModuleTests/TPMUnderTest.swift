// SPDX-License-Identifier: Apache-2.0

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

    /// Checks that an idle chip leaves no object and no session in the TPM.
    func expectNothingHeld(sourceLocation: SourceLocation = #_sourceLocation) throws {
        tpm.inject(nil)
        chip.release()
        for kind in [0x80, 0x02, 0x03] as [UInt32] {
            #expect(try tpm.handles(kind).isEmpty, "kind \(kind)", sourceLocation: sourceLocation)
        }
    }
}
