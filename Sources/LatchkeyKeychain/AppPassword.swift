// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// The password of an app's own that an item may ask for (Apple: `.applicationPassword`, behaviours LA-40 and AC-05), as
/// far as one request has stretched it.
///
/// It is never kept: stretched, it is part of the key around the row key, so without it the secret cannot be opened.
package struct AppPassword: Sendable {
    /// Under which the request seals; nil when the request has no password.
    let sealing: StretchParameters?
    private var keys: [StretchParameters: SymmetricKey] = [:]

    /// Whether the request has one.
    var isGiven: Bool { sealing != nil }

    fileprivate init(sealing: StretchParameters?) { self.sealing = sealing }

    /// That of a request without one.
    package static let none = AppPassword(sealing: nil)

    /// Takes up what was stretched.
    package mutating func add(_ stretched: StretchedPassword) { keys[stretched.parameters] = stretched.key }

    /// The same before anything was stretched: a search opens one item at a time.
    package var withoutKeys: AppPassword { AppPassword(sealing: sealing) }

    /// What has to be stretched before `key` can be called for an item.
    func missing(for item: Item) throws(Failure) -> StretchParameters? {
        guard item.asksForAppPassword else { return nil }
        guard sealing != nil else { throw Self.isMissing }
        guard let parameters = item.stretching else { throw Self.isUnreadable }
        return keys[parameters] == nil ? parameters : nil
    }

    /// What has to be stretched before an item with that rule can be sealed.
    func missing(toSeal control: AccessControl) throws(Failure) -> StretchParameters? {
        guard control.constraints.contains(.applicationPassword) else { return nil }
        guard let sealing else { throw Self.isMissing }
        return keys[sealing] == nil ? sealing : nil
    }

    /// The key of an item's secret; nil for an item that asks for no password.
    func key(for item: Item) throws(Failure) -> SymmetricKey? {
        guard item.asksForAppPassword else { return nil }
        guard sealing != nil else { throw Self.isMissing }
        guard let parameters = item.stretching else { throw Self.isUnreadable }
        guard let key = keys[parameters] else { throw Failure(.internalFailure, "A password was not stretched.") }
        return key
    }

    static var isWrong: Failure {
        Failure(.itemAuthenticationFailed, "The application password is not the item's.")
    }

    private static var isUnreadable: Failure {
        Failure.damagedStore("a row does not say how its password is stretched")
    }

    private static var isMissing: Failure {
        Failure(
            .interactionNotAllowed, "The item asks for the app's own password, which is never prompted for.",
            hint: "Hand it over with LAContext.setCredential(_:type:) and kSecUseAuthenticationContext.")
    }
}

extension Keychain {
    /// What a request begins with; nothing of its password is stretched yet.
    package func appPassword(isGiven: Bool) throws(Failure) -> AppPassword {
        isGiven ? AppPassword(sealing: try .fresh(cost: tree.scryptCost, tree.random)) : .none
    }

    /// What has to be stretched before an item with that rule is added.
    package func stretchingToAdd(
        _ control: AccessControl, _ password: AppPassword
    ) throws(Failure) -> [StretchParameters] {
        try password.missing(toSeal: control).map { [$0] } ?? []
    }
}
