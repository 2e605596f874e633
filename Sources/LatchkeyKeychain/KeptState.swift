// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

// The lock and the answers about faces: parts of the state record. A change is an audit row as well, which names the serial
// number of the record, so that an older record put back is noticed.

extension Keychain {
    func stateValues(in store: any ItemReading) throws(Failure) -> StoreState.Values {
        try state.values(in: store, serial: try audit.end(in: store).numbers.stateSerial)
    }

    /// Changes the state record within a transaction; an audit entry has to follow.
    func changeState(
        in store: any ItemWriting, _ body: (inout StoreState.Values) -> Void
    ) throws(Failure) {
        var values: StoreState.Values
        let serial = try audit.end(in: store).numbers.stateSerial
        do throws(Failure) {
            values = try state.values(in: store, serial: serial)
        } catch {
            guard error.status == .storeUnreadable else { throw error }
            // It was changed or taken out: locked, and every app asks again.
            values = StoreState.Values(serial: serial, isLocked: true, wasUnlocked: false)
        }
        body(&values)
        try state.write(values, to: store)
        try audit.change(in: store) { (numbers) throws(Failure) in numbers.stateSerial = values.serial + 1 }
    }

    /// Keeps whether the device is locked: a daemon that is ended and started again is no way around it.
    package func keep(_ lock: LockState) throws(Failure) {
        try write { (store) throws(Failure) in
            try changeState(in: store) {
                $0.isLocked = lock.isLocked
                $0.wasUnlocked = lock.wasUnlocked
                $0.bootID = clock.bootID
            }
            try audit.append(lock.isLocked ? .locked : .unlocked, caller: nil, to: store)
        }
    }

    /// The lock as it was kept. After another start of the machine, one that was locked has not been unlocked at all.
    /// A record that was changed counts as locked.
    package func keptLock() throws(Failure) -> LockState {
        let values: StoreState.Values
        do throws(Failure) {
            values = try store.read { (store) throws(Failure) in try stateValues(in: store) }
        } catch {
            guard error.status == .storeUnreadable else { throw error }
            return LockState(isLocked: true, wasUnlocked: false)
        }
        let wasUnlocked = !values.isLocked || values.wasUnlocked && isOfThisBoot(values.bootID)
        return LockState(isLocked: values.isLocked, wasUnlocked: wasUnlocked)
    }

    /// Stores the answers of the person to apps that asked to use the camera (behaviour LA-07), durably when this returns.
    /// Writes nothing if they are stored already.
    package func keep(facePermissions: [String: Bool]) throws(Failure) {
        // A state record that cannot be read differs from every set of answers: `changeState` replaces it, or says why not.
        if let kept = try? keptFacePermissions(), kept == facePermissions { return }
        try write { (store) throws(Failure) in
            try changeState(in: store) { $0.facePermissions = facePermissions }
            try audit.append(.facePermissionChanged, caller: nil, to: store)
        }
    }

    /// The answers as they were kept; a record that was changed throws.
    package func keptFacePermissions() throws(Failure) -> [String: Bool] {
        try store.read { (store) throws(Failure) in try stateValues(in: store).facePermissions }
    }
}
