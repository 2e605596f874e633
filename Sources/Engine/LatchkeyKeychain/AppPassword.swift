// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// The application password of one request (Apple: `.applicationPassword`, behaviours LA-40 and AC-05), with the keys
/// that were stretched from it so far.
///
/// The password is never stored. The stretched key is part of the key that wraps the row key, so without it the
/// secret cannot be opened.
package struct AppPassword: Sendable {
    /// Parameters for items that this request seals; nil when the request has no password.
    let sealing: StretchParameters?
    private var keys: [StretchParameters: SymmetricKey] = [:]

    var isGiven: Bool { sealing != nil }

    fileprivate init(sealing: StretchParameters?) { self.sealing = sealing }

    /// The value for a request without a password.
    package static let none = AppPassword(sealing: nil)

    package mutating func add(_ stretched: StretchedPassword) { keys[stretched.parameters] = stretched.key }

    /// A copy without any stretched keys, for the next item of a search.
    package var withoutKeys: AppPassword { AppPassword(sealing: sealing) }

    /// Returns the parameters to stretch with before `key(for:)` can be called for an item; nil when none are missing.
    func missing(for item: Item) throws(Failure) -> StretchParameters? {
        guard item.asksForAppPassword else { return nil }
        guard sealing != nil else { throw Self.isMissing }
        guard let parameters = item.stretching else { throw Self.isUnreadable }
        return keys[parameters] == nil ? parameters : nil
    }

    /// Returns the parameters to stretch with before an item with that access control can be sealed; nil when none
    /// are missing.
    func missing(toSeal control: AccessControl) throws(Failure) -> StretchParameters? {
        guard control.constraints.contains(.applicationPassword) else { return nil }
        guard let sealing else { throw Self.isMissing }
        return keys[sealing] == nil ? sealing : nil
    }

    /// Returns the stretched key for an item's secret; nil for an item without an application password.
    func key(for item: Item) throws(Failure) -> SymmetricKey? {
        guard item.asksForAppPassword else { return nil }
        guard sealing != nil else { throw Self.isMissing }
        guard let parameters = item.stretching else { throw Self.isUnreadable }
        guard let key = keys[parameters] else { throw Failure(.internalFailure, "A password was not stretched.") }
        return key
    }

    /// Returns what a key module gets in place of the password of a key; nil for a key without one. It is derived from
    /// the stretched key, so that it reveals nothing about the key that wraps the row key.
    func moduleKey(_ stretching: StretchParameters?) throws(Failure) -> SecretBytes? {
        guard let stretching else { return nil }
        guard let key = keys[stretching] else { throw Failure(.internalFailure, "A password was not stretched.") }
        return try key.derive(.moduleKey).secret
    }

    static var isWrong: Failure {
        Failure(.itemAuthenticationFailed, "The application password is wrong.", reason: .wrongAppPassword)
    }

    private static var isUnreadable: Failure {
        Failure.damagedStore("a row lacks the stretching parameters of its application password")
    }

    private static var isMissing: Failure {
        Failure(
            .interactionNotAllowed, "The item needs an application password, and no prompt asks for it.",
            hint: "Pass it with LAContext.setCredential(_:type:) and kSecUseAuthenticationContext.")
    }
}

extension Keychain {
    /// Makes the password state of a new request, with nothing stretched yet.
    package func appPassword(isGiven: Bool) throws(Failure) -> AppPassword {
        isGiven ? AppPassword(sealing: try .fresh(cost: tree.scryptCost, tree.random)) : .none
    }

    /// Returns the parameters to stretch with before an item with that access control is added.
    package func stretchingToAdd(
        _ control: AccessControl, _ password: AppPassword
    ) throws(Failure) -> [StretchParameters] {
        try password.missing(toSeal: control).map { [$0] } ?? []
    }
}
