// SPDX-License-Identifier: Apache-2.0

internal import SignInVerification

/// Whether a passkey has left its authenticator. The numbers are those of the column `synced`.
public enum PasskeyBackup: Int64, CaseIterable, Sendable {
    /// It cannot leave its authenticator.
    case impossible = 0
    /// It can, and had not when it was used last.
    case possible = 1
    /// It has: other devices of the user have it, and their maker's service.
    case done = 2

    /// The name in reports.
    public var name: String {
        switch self {
        case .impossible: "no"
        case .possible: "possible"
        case .done: "yes"
        }
    }

    init(_ passkey: Passkey) {
        self = passkey.isBackedUp ? .done : passkey.canBeBackedUp ? .possible : .impossible
    }
}

/// What is stored of a passkey besides its key.
struct PasskeyRecord: Sendable {
    /// The identifier of the credential.
    let credential: [UInt8]
    /// The user handle that its registration had.
    let handle: [UInt8]
    /// The AAGUID, which is a claim.
    let authenticator: [UInt8]
    /// Who vouched for the key.
    let statement: Passkey.Statement
    var backup: PasskeyBackup

    init(_ passkey: Passkey) {
        (credential, authenticator) = (passkey.credential, passkey.authenticator)
        (handle, statement, backup) = (passkey.userHandle, passkey.statement, PasskeyBackup(passkey))
    }

    /// Reads the columns of `passkeys`; nil for a key that has no row there.
    init?(_ columns: ArraySlice<SQLValue>) {
        let row = Array(columns)
        guard row.count == 5, case .blob(let credential) = row[0], case .blob(let handle) = row[1],
            case .blob(let authenticator) = row[2], case .text(let name) = row[3],
            let statement = Passkey.Statement(rawValue: name), case .integer(let number) = row[4],
            let backup = PasskeyBackup(rawValue: number)
        else { return nil }
        (self.credential, self.handle, self.authenticator) = (credential, handle, authenticator)
        (self.statement, self.backup) = (statement, backup)
    }
}

extension SQLConnection {
    /// Stores what belongs to the key of a passkey, in the transaction that stores the key. `keyExists` for a credential
    /// that has another key.
    func insert(_ passkey: PasskeyRecord, of key: [UInt8]) throws {
        do throws(StorageFailure) {
            _ = try run(
                Statements.insertPasskey,
                [
                    .blob(passkey.credential), .blob(key), .blob(passkey.handle), .blob(passkey.authenticator),
                    .text(passkey.statement.rawValue), .integer(passkey.backup.rawValue),
                ])
        } catch  where error.isDuplicate {
            throw RelyingPartyError.refused(.keyExists)
        }
    }
}
