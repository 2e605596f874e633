// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// What the audit log has in place of a user's name: random, so that nothing connects it with the name once the row of
/// the user is deleted.
enum Pseudonym {
    static let byteCount = 16
}

extension SQLConnection {
    /// The pseudonym of a user, which is made when the user first appears in the audit log.
    func pseudonym(of user: String) throws -> String {
        if let known = try knownPseudonym(of: user) { return known }
        let made = StrictBase64.url.encode(try LibCrypto.random(Pseudonym.byteCount))
        _ = try run(Statements.insertPseudonym, [.text(user), .text(made)])
        return made
    }

    /// The pseudonym of a user; nil for one that never appeared in the audit log, or was deleted.
    func knownPseudonym(of user: String) throws -> String? {
        guard let row = try run(Statements.pseudonym, [.text(user)]).first else { return nil }
        guard row.count == 1, case .text(let pseudonym) = row[0] else {
            throw StorageFailure("A pseudonym cannot be read.")
        }
        return pseudonym
    }
}
