// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

extension Keychain {
    private static let lockRecord = "policy.lock"

    /// Keeps whether the device is locked, sealed: a daemon that is ended and started again is no way around it.
    package func keep(_ state: LockState) throws(Failure) {
        var writer = CBORWriter()
        writer.array(3)
        writer.boolean(state.isLocked)
        writer.boolean(state.wasUnlocked)
        writer.bytes(clock.bootID)
        let sealed = try tree.recordKey.seal(
            writer.finish(), nonce: tree.nonce(), binding: KeyTree.binding(tree.header, Self.lockRecord))
        try write { (store) throws(Failure) in try store.setRecord(Self.lockRecord, sealed) }
    }

    /// The lock as it was kept. After another start of the machine, one that was locked has not been unlocked at all.
    /// A record that was changed counts as locked.
    package func keptLock() throws(Failure) -> LockState {
        let record = Self.lockRecord
        guard let sealed = try store.read({ (store) throws(Failure) in try store.record(record) }) else {
            return LockState()
        }
        let plain = try tree.recordKey.open(sealed, binding: KeyTree.binding(tree.header, record))
        return plain.flatMap(decode) ?? LockState(isLocked: true, wasUnlocked: false)
    }

    private func decode(_ plain: SecretBytes) -> LockState? {
        plain.withBytes { bytes in
            var reader = CBORReader(bytes)
            return try? reader.tuple(3) { (reader) throws(WireError) in
                let isLocked = try reader.boolean()
                let wasUnlocked = try reader.boolean()
                let isOfThisBoot = try reader.bytes(limit: 64) == clock.bootID
                return LockState(isLocked: isLocked, wasUnlocked: !isLocked || wasUnlocked && isOfThisBoot)
            }
        }
    }
}
