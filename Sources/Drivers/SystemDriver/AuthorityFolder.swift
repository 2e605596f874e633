// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The files of one user that `latchkey-authd` stores: the name of the account, counters of failed tries, face
/// permissions, the records of the passcode and the key for approvals. Only root can read or change them, so they are
/// not encrypted; each has a checksum, because a write may be interrupted.
package final class AuthorityFolder: CounterStore, FacePermissionStore, PasscodeRecordStore {
    private let path: String
    private let clock: any Clock
    let random: any RandomSource
    /// Prevents two threads from making a key each.
    private let approval = Mutex(())
    private let checksumKey: SymmetricKey

    private struct Newest: Sendable {
        var serial: UInt64
        var slot: Int
    }
    private let newest = Mutex<Newest?>(nil)
    /// The contents of the file `enrolment`; nil before it was read.
    let seenEnrolment = Mutex<SeenEnrolment?>(nil)

    /// Creates the folder if it is missing; throws if it can be read or changed by other users.
    ///
    /// - Parameter account: the account that has the user number now.
    /// - Throws: `storeOfEarlierAccount` if the files belong to an earlier account with the same number.
    package convenience init(
        _ path: String, userID: UInt32, account: AccountName, clock: any Clock, random: any RandomSource
    ) throws(Failure) {
        try self.init(unchecked: path, clock: clock, random: random)
        try Files.makePrivateFolder(path)
        try check(userID, account)
    }

    /// Returns the records of a folder whose account may not exist any more; empty if there are none.
    package static func passcodeRecords(in path: String) throws(Failure) -> PasscodeRecords {
        try AuthorityFolder(unchecked: path, clock: SystemClock(), random: SystemRandomSource()).passcodeRecords()
    }

    private init(unchecked path: String, clock: any Clock, random: any RandomSource) throws(Failure) {
        self.path = path
        self.clock = clock
        self.random = random
        guard let zeros = SymmetricKey(SecretBytes([UInt8](repeating: 0, count: SymmetricKey.byteCount))) else {
            throw Failure(.internalFailure, "A key has the wrong length.")
        }
        checksumKey = try zeros.derive(.authorityFile)
    }

    /// Compares the file `account` with the account, and creates it in a new folder.
    private func check(_ userID: UInt32, _ account: AccountName) throws(Failure) {
        guard let stored = try storedAccount() else {
            // `account` is the first file of a folder, so it was removed from one that has others.
            guard ![counters, permissions, passcodes, approvalFile, enrolmentFile].contains(where: Files.exists) else {
                throw Failure(
                    .storeUnreadable, "\(accountFile) is missing, so the account of its folder is unknown.",
                    hint: "Restore the folder from a backup.")
            }
            var writer = CBORWriter()
            writer.text(account.text)
            return try replace(accountFile, .account, writer.finish().copyBytes())
        }
        // Stops an account that has the number of a deleted one from using its tries and its passcode.
        guard stored == account else {
            throw Failure.storeOfEarlierAccount("The passcode", userID, stored: stored, current: account)
        }
    }

    private func storedAccount() throws(Failure) -> AccountName? {
        guard let body = try contents(of: accountFile, .account) else { return nil }
        var name: AccountName?
        let isRead = Self.decode(body) { (reader) throws(WireError) in
            name = AccountName(try reader.text(limit: AccountName.bytes))
        }
        guard isRead, let name else { throw Self.changed(accountFile) }
        return name
    }

    private var accountFile: String { path + "/account" }
    private var counters: String { path + "/counters" }
    private var permissions: String { path + "/permissions" }
    private var passcodes: String { path + "/passcodes" }
    private var approvalFile: String { path + "/approval" }
    var enrolmentFile: String { path + "/enrolment" }

    // MARK: - Counters

    package func storedCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)? {
        try newest.withLock { (newest) throws(Failure) in
            guard let slots = try reading(counters, { () throws(SystemError) in try CounterSlots.read(counters) })
            else { return nil }
            var best: (StoredTries, Newest)?
            for (index, slot) in slots.enumerated() {
                guard let body = try checked(slot), let stored = StoredTries(decoding: body),
                    stored.serial >= best?.0.serial ?? 0
                else { continue }
                best = (stored, Newest(serial: stored.serial, slot: index))
            }
            guard let best else {
                throw Failure(.storeUnreadable, "\(counters) was changed, and its tries count as used up.")
            }
            newest = best.1
            let bootID = clock.bootID
            return (best.0.counters, !bootID.isEmpty && best.0.bootID == bootID)
        }
    }

    package func persist(_ counters: PolicyCounters) throws(Failure) {
        // Reads the file first, so that the older slot is overwritten; a changed file is replaced.
        if newest.withLock({ $0 }) == nil { _ = try? storedCounters() }
        try newest.withLock { (newest) throws(Failure) in
            let serial = (newest?.serial ?? 0) &+ 1
            let slot = 1 - (newest?.slot ?? 1)
            let body = StoredTries(serial: serial, counters: counters, bootID: clock.bootID).encoded
            let bytes = try checksumKey.authenticationCode(body) + body
            try writing(self.counters) { () throws(SystemError) in
                try CounterSlots.overwrite(self.counters, slot, with: bytes)
            }
            newest = Newest(serial: serial, slot: slot)
        }
    }

    // MARK: - Face permissions

    package func storedFacePermissions() throws(Failure) -> [String: Bool] {
        guard let body = try contents(of: permissions, .permissions) else { return [:] }
        var stored: [String: Bool] = [:]
        let isRead = Self.decode(body) { (reader) throws(WireError) in
            try reader.array(limit: Limits.facePermissions) { (reader) throws(WireError) in
                try reader.tuple(2) { (reader) throws(WireError) in
                    let application = try reader.text(limit: Limits.titleBytes)
                    stored[application] = try reader.boolean()
                }
            }
        }
        guard isRead else { throw Self.changed(permissions) }
        return stored
    }

    package func persist(facePermissions: [String: Bool]) throws(Failure) {
        var writer = CBORWriter()
        let stored = facePermissions.sorted { $0.key < $1.key }.prefix(Limits.facePermissions)
        writer.array(stored.count)
        for (application, isAllowed) in stored {
            writer.array(2)
            writer.text(application)
            writer.boolean(isAllowed)
        }
        try replace(permissions, .permissions, writer.finish().copyBytes())
    }

    // MARK: - Passcode

    package func passcodeRecords() throws(Failure) -> PasscodeRecords {
        guard let body = try contents(of: passcodes, .passcodes) else { return PasscodeRecords() }
        guard let records = PasscodeRecords(decoding: body) else { throw Self.changed(passcodes) }
        return records
    }

    package func persist(_ records: PasscodeRecords) throws(Failure) {
        try replace(passcodes, .passcodes, records.encoded)
    }

    // MARK: - Approvals

    /// Returns the private key with which uses of keys are approved, a scalar of P-256 of 32 bytes; nil if there is none.
    /// Blocks.
    ///
    /// - Throws: `storeUnreadable` for a changed key.
    package func storedApprovalKey() throws(Failure) -> SecretBytes? {
        let file = approvalFile
        let stored = try reading(file) { () throws(SystemError) in try Files.read(file, limit: 1 << 20) }
        guard let stored else { return nil }
        guard let key = ApprovalKeyFile(stored), try checksumKey.authenticationCode(key.point) == key.code else {
            throw Self.changed(file)
        }
        return key.scalar
    }

    /// Stores a key durably if there is none, and returns the stored one. Keys of the TPM that are bound to it are useless
    /// without it, so it is never replaced. Blocks.
    ///
    /// - Parameter key: the key; nil for a new one.
    /// - Throws: `storeUnreadable` for a changed key.
    package func storeApprovalKey(_ key: SecretBytes?) throws(Failure) -> SecretBytes {
        try approval.withLock { (_) throws(Failure) in
            if let stored = try storedApprovalKey() { return stored }
            let scalar = if let key { key } else { try random.bytes(ApprovalKeyFile.scalarBytes) }
            guard let point = PrivateScalar(scalar, curve: .p256)?.publicPoint else {
                throw Failure(.internalFailure, "The bytes are no key that approves uses of keys.", hint: "Try again.")
            }
            let (file, code) = (approvalFile, try checksumKey.authenticationCode(point))
            let bytes = ApprovalKeyFile.encode(scalar, code: code)
            try writing(file) { () throws(SystemError) in try Files.replace(file, with: bytes) }
            return scalar
        }
    }

    // MARK: - Files

    /// Returns the body of a file; nil if the file does not exist. Throws `storeUnreadable` if it was changed.
    func contents(of file: String, _ mark: FileMark) throws(Failure) -> [UInt8]? {
        guard
            let bytes = try reading(file, { () throws(SystemError) in try Files.read(file, limit: 1 << 20) })?
                .copyBytes()
        else { return nil }
        guard bytes.starts(with: mark.bytes), let body = try checked(Array(bytes.dropFirst(mark.bytes.count))) else {
            throw Self.changed(file)
        }
        return body
    }

    func replace(_ file: String, _ mark: FileMark, _ body: [UInt8]) throws(Failure) {
        let bytes = SecretBytes(mark.bytes + (try checksumKey.authenticationCode(body)) + body)
        try writing(file) { () throws(SystemError) in try Files.replace(file, with: bytes) }
    }

    /// Returns the bytes behind the checksum; nil if it does not fit.
    private func checked(_ bytes: [UInt8]) throws(Failure) -> [UInt8]? {
        guard bytes.count > 32 else { return nil }
        let body = Array(bytes[32...])
        return try checksumKey.authenticationCode(body) == Array(bytes[..<32]) ? body : nil
    }

    static func decode(_ body: [UInt8], _ read: (inout CBORReader) throws(WireError) -> Void) -> Bool {
        body.withUnsafeBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                try read(&reader)
                try reader.finish()
                return true
            } catch {
                return false
            }
        }
    }

    static func changed(_ file: String) -> Failure {
        Failure(.storeUnreadable, "\(file) was changed by another program, or is of another version.")
    }

    private func reading<R>(_ file: String, _ body: () throws(SystemError) -> R) throws(Failure) -> R {
        do throws(SystemError) { return try body() } catch { throw Failure(error, "\(file) cannot be read") }
    }

    private func writing<R>(_ file: String, _ body: () throws(SystemError) -> R) throws(Failure) -> R {
        do throws(SystemError) { return try body() } catch { throw Failure(error, "\(file) cannot be written") }
    }
}

// The epoch of the enrolment set, in a file with the set that was seen last.

extension AuthorityFolder {
    /// The enrolment set that was seen last, and its epoch.
    struct SeenEnrolment: Equatable, Sendable {
        /// Empty if nothing was enrolled.
        var set: [UInt8]
        var epoch: [UInt8]
    }

    /// Returns the epoch of a set: at most 16 bytes, which are new whenever the set is another one than in the call before,
    /// also after a restart. Empty as long as the set has never changed. When a finger is added and removed again, the set is
    /// the earlier one, and what was bound to it before must end all the same. Blocks; a new epoch is durable before this
    /// returns.
    ///
    /// - Parameter set: the present set; nil if nothing is enrolled.
    /// - Throws: `storeUnreadable` for changed files, which are not replaced.
    package func epoch(of set: EnrolmentSet?) throws(Failure) -> [UInt8] {
        let set = set?.bytes ?? []
        return try seenEnrolment.withLock { (seen) throws(Failure) in
            let known: SeenEnrolment?
            if let seen { known = seen } else { known = try storedEnrolment() }
            if let known, known.set == set {
                seen = known
                return known.epoch
            }
            // The first set that is ever seen has no epoch, so that what was bound to it by an earlier version stays.
            let epoch: [UInt8] = known == nil ? [] : try random.bytes(16).copyBytes()
            var writer = CBORWriter()
            writer.array(2)
            writer.bytes(set)
            writer.bytes(epoch)
            try replace(enrolmentFile, .enrolment, writer.finish().copyBytes())
            seen = SeenEnrolment(set: set, epoch: epoch)
            return epoch
        }
    }

    private func storedEnrolment() throws(Failure) -> SeenEnrolment? {
        guard let body = try contents(of: enrolmentFile, .enrolment) else { return nil }
        var seen: SeenEnrolment?
        let isRead = Self.decode(body) { (reader) throws(WireError) in
            seen = try reader.tuple(2) { (reader) throws(WireError) in
                SeenEnrolment(set: try reader.bytes(limit: 64), epoch: try reader.bytes(limit: 16))
            }
        }
        guard isRead, let seen else { throw Self.changed(enrolmentFile) }
        return seen
    }
}
