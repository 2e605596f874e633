// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// What must stay true after an earlier copy of the database was restored.
public enum RevocationEntry: Hashable, Sendable {
    /// The key with this identifier was revoked.
    case revoked([UInt8])
    /// The key with this identifier was frozen, at this time in seconds since 1970.
    case frozen([UInt8], Int64)
    /// The key with this identifier may be used again.
    case unfrozen([UInt8])
    /// The user with this pseudonym was deleted.
    case deleted(String)
    /// The user with this pseudonym was removed from the administrators, at this time in seconds since 1970.
    case demoted(String, Int64)
    /// The credential of a service with this SHA-256 was removed or replaced.
    case service([UInt8])

    /// One line, without its end: a word, a space, and the identifier in base64url; a time after another space.
    package var line: String {
        switch self {
        case .revoked(let key): "revoked " + StrictBase64.url.encode(key)
        case .frozen(let key, let time): "frozen " + StrictBase64.url.encode(key) + " \(time)"
        case .unfrozen(let key): "unfrozen " + StrictBase64.url.encode(key)
        case .deleted(let pseudonym): "deleted " + pseudonym
        case .demoted(let pseudonym, let time): "demoted " + pseudonym + " \(time)"
        case .service(let credential): "service " + StrictBase64.url.encode(credential)
        }
    }

    /// Reads a line; nil for any other text.
    package init?(line: some StringProtocol) {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let bytes = StrictBase64.url.decode(parts[1].utf8) else { return nil }
        let time = parts.count == 3 ? Int64(parts[2]) : 0
        guard let time, time >= 0 else { return nil }
        switch (parts[0], bytes.count, parts.count) {
        case ("revoked", 32, 2): self = .revoked(bytes)
        case ("frozen", 32, 3): self = .frozen(bytes, time)
        case ("demoted", Pseudonym.byteCount, 3): self = .demoted(String(parts[1]), time)
        case ("unfrozen", 32, 2): self = .unfrozen(bytes)
        case ("deleted", Pseudonym.byteCount, 2): self = .deleted(String(parts[1]))
        case ("service", 32, 2): self = .service(bytes)
        default: return nil
        }
    }
}

/// A list outside the database, to which entries are only ever appended.
package protocol RevocationList: Sendable {
    /// Appends entries; they are durable when this returns. Blocks.
    func append(_ entries: [RevocationEntry]) throws(StorageFailure)
    /// All entries, in the order in which they were appended.
    func entries() throws(StorageFailure) -> [RevocationEntry]
}

extension RelyingPartyService {
    /// Appends entries to the list, if there is one, after they were committed to the database. If that fails, the request
    /// fails although it had its effect: the operator must notice, and the next start of the server appends what is
    /// missing.
    func record(_ entries: [RevocationEntry]) throws {
        guard let revocations, !entries.isEmpty else { return }
        try listedCount.withLock { count throws(StorageFailure) in
            try revocations.append(entries)
            count += entries.count
        }
        storage.recompare()
    }
}
