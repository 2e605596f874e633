// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import SignInVerification

// Registered services: the back ends of applications, which ask about the sessions and approvals of users.

/// What a service may do.
public struct ServiceRights: OptionSet, Sendable {
    /// The bits in the column `rights`.
    public let rawValue: Int64

    /// Creates rights from their bits.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// To ask about sessions and to redeem approvals.
    public static let check = ServiceRights(rawValue: 1)
    /// To make enrolment codes for users who are no administrators.
    public static let enroll = ServiceRights(rawValue: 2)
}

/// A registered service, for the operator.
public struct RegisteredService: Sendable {
    /// The name, 1 to 32 characters a-z, 0-9 and `-`.
    public let name: String
    /// What it may do.
    public let rights: ServiceRights
    /// When its credential was made, in seconds since 1970.
    public let created: Int64

    init?(_ row: [SQLValue]) {
        guard row.count == 3, case .text(let name) = row[0], case .integer(let rights) = row[1],
            case .integer(let created) = row[2]
        else { return nil }
        (self.name, self.rights, self.created) = (name, ServiceRights(rawValue: rights), created)
    }
}

/// How a service proves who it is.
package struct ServiceCredential: Sendable {
    let name: String
    /// 32 bytes.
    let secret: [UInt8]

    package init(name: String, secret: [UInt8]) { (self.name, self.secret) = (name, secret) }
}

/// What a service learns about an open session.
package struct IntrospectedSession: Sendable {
    package let session: OpenSession
    /// The SHA-256 of the token, 32 bytes.
    package let identifier: [UInt8]
    /// When the key signed in, in seconds since 1970.
    package let created: Int64
    /// When the key approved an act last, in seconds since 1970; nil if it has not.
    package let stepped: Int64?
}

/// What a key has approved, and a service has redeemed.
package struct RedeemedApproval: Sendable {
    package let user: String
    package let key: [UInt8]
    /// When the key approved it, in seconds since 1970.
    package let approved: Int64
}

extension RelyingPartyService {
    // MARK: - For the operator

    /// Registers a service, or replaces its credential and rights.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 characters a-z, 0-9 and `-`.
    ///   - rights: what it may do.
    /// - Returns: its credential, 32 random bytes, which is not stored. The one before is refused from now on.
    /// - Throws: `malformed` and `unavailable`.
    public func addService(_ name: String, _ rights: ServiceRights) throws(RelyingPartyError) -> [UInt8] {
        try working {
            guard Self.isServiceName(name) else { throw RelyingPartyError.malformed("service") }
            let (secret, now) = (try randomBytes(32), now)
            let digest = try LibCrypto.sha256(secret)
            let before = try storage.transaction { database in
                let before = try database.credential(ofService: name)
                if let before { try database.endService(withCredential: before) }
                _ = try database.run(
                    Statements.insertService, [.text(name), .blob(digest), .integer(rights.rawValue), .integer(now)])
                try database.audit("service", "", digest, "added \(name)", at: now)
                return before
            }
            if let before { try record([.service(before)]) }
            return secret
        }
    }

    /// Removes a service, whose credential is refused from now on.
    ///
    /// - Returns: whether there was one.
    /// - Throws: `unavailable`.
    public func removeService(_ name: String) throws(RelyingPartyError) -> Bool {
        try working {
            let now = now
            let before = try storage.transaction { database -> [UInt8]? in
                guard let before = try database.credential(ofService: name) else { return nil }
                try database.endService(withCredential: before)
                try database.audit("service", "", before, "removed \(name)", at: now)
                return before
            }
            guard let before else { return false }
            try record([.service(before)])
            return true
        }
    }

    /// The registered services, by name.
    ///
    /// - Throws: `unavailable`.
    public func services() throws(RelyingPartyError) -> [RegisteredService] {
        try working {
            try storage.read(Statements.services, []).map { row throws in
                guard let service = RegisteredService(row) else {
                    throw StorageFailure("A row of the services cannot be read.")
                }
                return service
            }
        }
    }

    /// The names have no character that has a meaning in a header, a log or the list of revocations.
    static func isServiceName(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
            }
    }

    // MARK: - For services

    /// Tells a service what is known about the session of a program.
    ///
    /// - Parameters:
    ///   - token: what the service received as the token.
    ///   - isUse: whether this is a use of the session. If no service says so and the client itself does not use the session
    ///     here, it does not end for lack of use: only the service knows how it is used.
    /// - Returns: nil for a token of no open session.
    /// - Throws: `refused` for a service that is unknown or has no right to ask; `unavailable`.
    package func introspect(
        _ token: [UInt8], isUse: Bool, by credential: ServiceCredential
    ) throws(RelyingPartyError) -> IntrospectedSession? {
        try working {
            let now = now
            let found = try storage.reading { database -> FoundSession? in
                try database.require(.check, of: credential)
                return try database.openSession(of: token, policy, at: now)
            }
            guard let found else { return nil }
            let identifier = try LibCrypto.sha256(token)
            // Both are written seldom: a use at each tenth of the idle time, and the first check after a use.
            if isUse ? found.isUseDue : !found.isChecked {
                try storage.transaction { database in
                    _ = try database.run(
                        isUse ? Statements.useSession : Statements.checkSession, [.integer(now), .blob(identifier)])
                }
            }
            return IntrospectedSession(
                session: found.session, identifier: identifier, created: found.created, stepped: found.stepped)
        }
    }

    /// Redeems the approval of an act, once.
    ///
    /// - Parameters:
    ///   - approval: what the step-up returned to the client.
    ///   - token: the token of the session in which it was made.
    ///   - context: the act that the service is about to do.
    /// - Returns: nil unless the key of this open session approved this act in the last 60 seconds and the approval was not
    ///   redeemed.
    /// - Throws: `refused` for a service that is unknown or has no right to ask; `malformed` and `unavailable`.
    package func redeem(
        _ approval: [UInt8], token: [UInt8], context: String, by credential: ServiceCredential
    ) throws(RelyingPartyError) -> RedeemedApproval? {
        try working {
            guard !context.isEmpty else { throw RelyingPartyError.malformed("context") }
            try check(context: context)
            let now = now
            let values: [SQLValue] = [
                .blob(try LibCrypto.sha256(approval)), .blob(try LibCrypto.sha256(token)), .text(context),
                .integer(now), .integer(now + Limits.approvalSeconds),
            ]
            return try storage.transaction { database in
                try database.require(.check, of: credential)
                guard let found = try database.openSession(of: token, policy, at: now),
                    case .integer(let approved)? = try database.run(Statements.approval, values).first?.first
                else { return nil }
                _ = try database.run(Statements.redeemApproval, values)
                // Another process may have redeemed it after this one read it.
                guard database.changedRowCount == 1 else { return nil }
                let session = found.session
                try database.audit(
                    "redeem", session.user, session.key, "service \(credential.name): \(context)", at: now)
                return RedeemedApproval(user: session.user, key: session.key, approved: approved)
            }
        }
    }

    /// Makes an enrolment code for a user because a service asks for it, as ``makeCode(for:)``.
    ///
    /// - Throws: `refused` for a service that is unknown or has no right to it, and for an administrator, whose keys only the
    ///   operator and other administrators permit; `malformed` and `unavailable`.
    package func makeCode(
        for user: String, by credential: ServiceCredential
    ) throws(RelyingPartyError) -> (code: String, expiry: Int64) {
        try working {
            try check(user: user, key: ChallengePurpose.noKey)
            let (made, now) = (try newCode(), now)
            try storage.reading { try $0.require(.enroll, of: credential) }
            try storage.transaction(of: user) { database in
                try database.require(.enroll, of: credential)
                guard try database.run(Statements.administrator, [.text(user)]).isEmpty else {
                    throw RelyingPartyError.refused(.serviceRight)
                }
                try database.replaceCode(
                    of: user, made.stored, "service \(credential.name)", of: credential.name, at: now)
            }
            return (made.code, now + Limits.codeSeconds)
        }
    }
}

extension SQLConnection {
    fileprivate func credential(ofService name: String) throws -> [UInt8]? {
        guard let row = try run(Statements.service, [.text(name)]).first else { return nil }
        guard case .blob(let digest)? = row.first else { throw StorageFailure("A row of the services cannot be read.") }
        return digest
    }

    /// Ends a credential, and the enrolment codes that were made with it.
    ///
    /// - Returns: whether a service had it.
    @discardableResult func endService(withCredential digest: [UInt8]) throws -> Bool {
        _ = try run(Statements.endCodesOfService, [.blob(digest)])
        _ = try run(Statements.removeService, [.blob(digest)])
        return changedRowCount == 1
    }

    /// Refuses a service that is not registered, has another credential, or lacks a right.
    fileprivate func require(_ right: ServiceRights, of credential: ServiceCredential) throws {
        // The digest of 32 random bytes: comparing it tells nothing about them.
        guard RelyingPartyService.isServiceName(credential.name),
            let row = try run(Statements.service, [.text(credential.name)]).first, row.count == 2,
            row[0] == .blob(try LibCrypto.sha256(credential.secret)), case .integer(let rights) = row[1]
        else { throw RelyingPartyError.refused(.unknownService) }
        guard ServiceRights(rawValue: rights).contains(right) else {
            throw RelyingPartyError.refused(.serviceRight)
        }
    }

    /// The open session of a program; nil if there is none.
    fileprivate func openSession(
        of token: [UInt8], _ policy: RelyingPartyPolicy, at now: Int64
    ) throws -> FoundSession? {
        do {
            return try findSession(token, .program, policy, at: now)
        } catch RelyingPartyError.refused {
            return nil
        }
    }
}
