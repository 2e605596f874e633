// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem

/// The files in which fprintd stores enrolled prints: `FOLDER/ACCOUNT/DRIVER/DEVICE/FINGER`, readable by root.
///
/// Their contents are the enrolment set. The names of the fingers would not be: a finger that is deleted and enrolled
/// again has the same name. fprintd writes a file only when a finger is enrolled; a driver that improves prints after a
/// match does so inside the reader, where it changes no file.
final class EnrolmentFiles: Sendable {
    /// Limits of what is read: a hundred times what ten fingers on several readers need.
    private static let mostFolders = 64
    private static let mostBytes = 4 << 20

    private let folder: String

    init(_ folder: String) { self.folder = folder }

    // MARK: - The set

    /// The enrolment set of an account; nil if no finger is enrolled.
    ///
    /// - Throws: `biometryNotAvailable` if a file cannot be read: a part of the set must not count as the whole.
    func set(of account: AccountName) throws(Failure) -> EnrolmentSet? {
        do throws(SystemError) {
            guard !account.text.utf8.contains(UInt8(ascii: "/")), ![".", ".."].contains(account.text),
                let home = try open(FilePath(account.text), below: try open(FilePath(folder), below: nil))
            else { return nil }
            return try set(home, of: account)
        } catch {
            throw Failure(
                .biometryNotAvailable, "The enrolled fingers in \(folder) cannot be read: \(error.description).",
                hint: "The folder belongs to root and to fprintd; see: ls -lR \(folder)")
        }
    }

    private func set(_ home: Descriptor, of account: AccountName) throws(SystemError) -> EnrolmentSet? {
        var parts: [[UInt8]] = [CryptographicLabel.fingers.bytes, Array(account.text.utf8)]
        var count = 0
        for driver in try home.names(limit: Self.mostFolders) {
            guard let devices = try open(driver, below: home) else { continue }
            for device in try devices.names(limit: Self.mostFolders) {
                guard let prints = try open(device, below: devices) else { continue }
                for finger in try prints.names(limit: Self.mostFolders) where Self.isFinger(finger) {
                    let file = try Descriptor.open(finger, below: prints, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                    guard try file.status().isType(S_IFREG) else { continue }
                    parts += [driver.bytes, device.bytes, finger.bytes]
                    parts.append(try Self.hash(file.readAll(limit: Self.mostBytes)))
                    count += 1
                }
            }
        }
        return count == 0 ? nil : try Self.digest(parts)
    }

    /// fprintd names a print by the number of the finger in hexadecimal, and ignores all other files.
    private static func isFinger(_ name: FilePath) -> Bool {
        name.bytes.count == 1 && name.bytes.allSatisfy { (0x31...0x39).contains($0) || $0 == UInt8(ascii: "a") }
    }

    /// Opens a folder; nil if it does not exist or is none.
    private func open(_ name: FilePath, below folder: Descriptor?) throws(SystemError) -> Descriptor? {
        do throws(SystemError) {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            guard let folder else { return try Descriptor.open(name, flags) }
            return try Descriptor.open(name, below: folder, flags)
        } catch {
            if [ENOENT, ENOTDIR, ELOOP].contains(error.code) { return nil }
            throw error
        }
    }

    private func open(_ name: FilePath, below folder: Descriptor??) throws(SystemError) -> Descriptor? {
        guard let folder else { return nil }
        return try open(name, below: folder)
    }

    /// The set of finger names, where the files cannot be read. It never stands for the fingers themselves.
    static func names(_ fingers: [String], of account: AccountName) throws(Failure) -> EnrolmentSet {
        let names = fingers.sorted().map { Array($0.utf8) }
        do throws(SystemError) {
            return try digest([CryptographicLabel.fingerNames.bytes, Array(account.text.utf8)] + names)
        } catch {
            throw Failure(.internalFailure, "The names of the enrolled fingers cannot be hashed.", cause: error)
        }
    }

    /// The SHA-256 of the parts, each after its length in eight bytes.
    private static func digest(_ parts: [[UInt8]]) throws(SystemError) -> EnrolmentSet {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: part.count >> ($0 * 8)) }
            bytes += part
        }
        return EnrolmentSet(try hash(bytes))
    }

    private static func hash(_ bytes: [UInt8]) throws(SystemError) -> [UInt8] {
        do throws(Failure) { return try DigestAlgorithm.sha256.hash(bytes) } catch {
            throw SystemError("EVP_Digest", code: EIO)
        }
    }

    // MARK: - Changes

    /// Calls `changed` on the bus's thread after any change below the folder.
    func watch(_ bus: SystemBus, _ changed: @escaping () -> Void) {
        let watch: FolderWatch
        do throws(SystemError) { watch = try FolderWatch() } catch {
            // Without inotify the set is still read for each scan; only items lose their key later.
            return
        }
        add(watch)
        bus.watch(watch.file) { [self] in
            watch.drain()
            // New folders are watched too; those that are watched already stay so.
            add(watch)
            changed()
        }
    }

    private func add(_ watch: FolderWatch) {
        // A folder that does not exist yet is found when the one above it changes.
        watch.add(folder)
        for account in Self.names(folder) {
            watch.add(account)
            for driver in Self.names(account) {
                watch.add(driver)
                for device in Self.names(driver) { watch.add(device) }
            }
        }
    }

    /// The entries of a folder that is watched; none if it cannot be read. The set itself is read by `set(of:)`, which
    /// throws then.
    private static func names(_ path: String) -> [String] {
        // A folder that cannot be read only is not watched.
        guard let folder = try? Descriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else { return [] }
        // The same holds for a folder with too many entries.
        let names = (try? folder.names(limit: 4096)) ?? []
        return names.compactMap { name in name.text.map { path + "/" + $0 } }
    }
}
