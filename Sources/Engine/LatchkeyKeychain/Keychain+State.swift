// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

// The device lock and the camera permissions are part of the state record. Each change also writes an audit entry
// that stores the serial number of the record, so that a restored older record is detected.

extension Keychain {
    func stateValues(in store: any ItemReading) throws(Failure) -> StoreState.Values {
        try state.values(in: store, serial: try audit.end(in: store).numbers.stateSerial)
    }

    /// Changes the state record within a transaction; an audit entry must follow in the same transaction.
    func changeState(in store: any ItemWriting, _ body: (inout StoreState.Values) -> Void) throws(Failure) {
        let serial = try audit.end(in: store).numbers.stateSerial
        // If the record was changed or removed, the device counts as locked, and every app asks for the camera again.
        var values =
            try unlessDamaged { () throws(Failure) in try state.values(in: store, serial: serial) }
            ?? StoreState.Values(serial: serial, isLocked: true, wasUnlocked: false)
        body(&values)
        try state.write(values, to: store)
        try audit.change(in: store) { (numbers) throws(Failure) in numbers.stateSerial = values.serial + 1 }
    }

    /// Stores the device lock durably, so that restarting the daemon does not unlock the device.
    package func persist(_ lock: LockState) throws(Failure) {
        try write { (store) throws(Failure) in
            try changeState(in: store) {
                $0.isLocked = lock.isLocked
                $0.wasUnlocked = lock.wasUnlocked
                $0.bootID = clock.bootID
            }
            try audit.append(lock.isLocked ? .locked : .unlocked, caller: nil, to: store)
        }
    }

    /// Returns the stored lock. If the device was locked before this boot, it has not been unlocked since the boot. A
    /// changed record counts as locked.
    package func storedLock() throws(Failure) -> LockState {
        let stored = try unlessDamaged { () throws(Failure) in
            try store.read { (store) throws(Failure) in try stateValues(in: store) }
        }
        guard let values = stored else { return LockState(isLocked: true, wasUnlocked: false) }
        let wasUnlocked = !values.isLocked || values.wasUnlocked && isOfThisBoot(values.bootID)
        return LockState(isLocked: values.isLocked, wasUnlocked: wasUnlocked)
    }

    /// Stores the user's answers to apps that asked to use the camera (behaviour LA-07); durable on return. Writes
    /// nothing if they are stored already.
    package func persist(facePermissions: [String: Bool]) throws(Failure) {
        // When the state record cannot be read, the answers are written: `changeState` replaces the record, or throws
        // the reason.
        if let stored = try? storedFacePermissions(), stored == facePermissions { return }
        try write { (store) throws(Failure) in
            try changeState(in: store) { $0.facePermissions = facePermissions }
            try audit.append(.facePermissionChanged, caller: nil, to: store)
        }
    }

    /// Returns the stored answers; throws `storeUnreadable` for a changed record.
    package func storedFacePermissions() throws(Failure) -> [String: Bool] {
        try store.read { (store) throws(Failure) in try stateValues(in: store).facePermissions }
    }
}
