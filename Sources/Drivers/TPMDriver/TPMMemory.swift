// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// Uses what one connection holds in the memory of the TPM (`TPMHeld`), and loads what is missing. Knows the storage root
/// key as well, which takes no memory.
struct TPMMemory {
    private var root: StorageRoot?
    private var generation: UInt64 = 0

    /// Forgets the storage root key if the connection is another one than before.
    mutating func use(_ current: UInt64) {
        guard generation != current else { return }
        root = nil
        generation = current
    }

    // MARK: - Objects

    /// Runs a body with the storage root key of that name; nil for any with our template. Another program can have removed
    /// the key since it was found: the body then runs once more with the one that is made again.
    mutating func withRoot<R>(
        _ name: [UInt8]?, _ client: inout TPMClient,
        _ body: (StorageRoot, inout TPMClient) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        do throws(TPMError) {
            return try body(storageRoot(name, &client), &client)
        } catch {
            guard root != nil, error.kind == .handleGone || error.kind == .value else { throw error }
            root = nil
            return try body(storageRoot(name, &client), &client)
        }
    }

    /// Has the storage root key found anew by the next command that needs it.
    mutating func forgetRoot() { root = nil }

    private mutating func storageRoot(_ name: [UInt8]?, _ client: inout TPMClient) throws(TPMError) -> StorageRoot {
        if let root, name == nil || root.entity.name == name { return root }
        let found = try client.storageRoot(named: name)
        root = found
        return found
    }

    /// Runs a command with a key, loaded.
    mutating func withKey<R>(
        _ key: TPMUsableKey, _ client: inout TPMClient, _ body: (TPMEntity, inout TPMClient) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        try with(\.key, &client, { (memory, client) throws(TPMError) in try memory.load(key, &client) }, body)
    }

    /// Runs a command with the key of the authority that approves the uses of a key, loaded.
    mutating func withAuthority<R>(
        of key: TPMUsableKey, _ client: inout TPMClient, _ body: (TPMEntity, inout TPMClient) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        try with(
            \.authority, &client, { (memory, client) throws(TPMError) in try memory.loadAuthority(key, &client) }, body
        )
    }

    /// Runs a command with an object that was loaded before or is loaded now. Another program can have flushed it: the TPM
    /// refuses the command before it touches a session, so that the command, for which the user is not asked again, is sent
    /// once more with the object loaded again.
    private mutating func with<R>(
        _ object: WritableKeyPath<TPMHeld, TPMEntity?>, _ client: inout TPMClient,
        _ load: (inout TPMMemory, inout TPMClient) throws(TPMError) -> TPMEntity,
        _ body: (TPMEntity, inout TPMClient) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        let loaded = try load(&self, &client)
        do throws(TPMError) {
            return try body(loaded, &client)
        } catch {
            guard error.kind == .flushed || error.kind == .handleGone else { throw error }
            client.held[keyPath: object] = nil
            return try body(load(&self, &client), &client)
        }
    }

    private mutating func load(_ wanted: TPMUsableKey, _ client: inout TPMClient) throws(TPMError) -> TPMEntity {
        if let key = client.held.key {
            if key.name == wanted.name { return key }
            client.held.key = nil
            try client.flush(key.handle)
        }
        let loaded: TPMEntity
        do throws(TPMError) {
            loaded = try withRoot(wanted.blob.parent, &client) { (root, client) throws(TPMError) in
                try client.load(wanted.blob.privatePart, wanted.blob.area, below: root)
            }
        } catch {
            switch error.kind {
            case .integrity, .size:
                throw .failed(Failure(.internalFailure, "The private part of the key was changed.", cause: error))
            default: throw error
            }
        }
        client.held.key = loaded
        return loaded
    }

    private mutating func loadAuthority(_ key: TPMUsableKey, _ client: inout TPMClient) throws(TPMError) -> TPMEntity {
        if let authority = client.held.authority {
            if authority.name == key.authorityName { return authority }
            client.held.authority = nil
            try client.flush(authority.handle)
        }
        let loaded = try client.loadExternal(key.authority)
        client.held.authority = loaded
        return loaded
    }

    /// Removes the keys that were loaded for the last use.
    func forgetKeys(_ client: inout TPMClient) {
        let keys = [client.held.key, client.held.authority].compactMap(\.self)
        (client.held.key, client.held.authority) = (nil, nil)
        // One that cannot be removed now is removed with the connection.
        for key in keys { try? client.flush(key.handle) }
    }

    /// Removes everything but the sessions of begun uses. What cannot be removed now is removed with the connection.
    func releaseAll(_ client: inout TPMClient) {
        client.releaseIdleSessions()
        forgetKeys(&client)
    }

    /// Loads what a use of a key needs, and begins its session.
    mutating func prepare(_ key: TPMUsableKey, _ client: inout TPMClient) throws(TPMError) {
        try withKey(key, &client) { (_, _) throws(TPMError) in }
        // A use by the passcode alone has no approval that the TPM would verify.
        if key.blob.binding.passcode?.part != .alone {
            try withAuthority(of: key, &client) { (_, _) throws(TPMError) in }
        } else if let authority = client.held.authority {
            // Of an earlier use by finger: a resource manager would load and save it with each command.
            client.held.authority = nil
            try client.flush(authority.handle)
        }
        client.held.idle = try newSession(below: key.blob.parent, &client)
    }

    // MARK: - Sessions

    /// Returns the session that is cached, or a new one; it belongs to the caller.
    private mutating func newSession(below parent: [UInt8], _ client: inout TPMClient) throws(TPMError) -> TPMSession {
        if let idle = try client.takeIdleSession(below: parent) { return idle }
        return try withRoot(parent, &client) { (root, client) throws(TPMError) in
            try client.startSession(.policy, salted: root)
        }
    }

    /// Gives a use a session; returns its handle and the nonce of the TPM for it.
    ///
    /// - Parameter isBegun: whether the use has not ended; the session of one that has is removed.
    mutating func beginSession(
        _ use: KeyChallenge.Identifier, below parent: [UInt8], _ client: inout TPMClient,
        isBegun: @escaping @Sendable () -> Bool
    ) throws(TPMError) -> (handle: TPMHandle, nonce: [UInt8]) {
        try client.saveSessions()
        let session = try newSession(below: parent, &client)
        client.addSession(session, for: use, isBegun)
        return (session.handle, session.nonce)
    }
}

/// What one connection caches in the memory of the TPM for later commands: one key, the key of one authority, and
/// sessions.
///
/// A TPM has room for three objects and three sessions, which other commands need as well, such as those that are carried
/// for `latchkey-authd`. So `TPMConnection` removes what is cached when the TPM has no room for a command.
struct TPMHeld: Sendable {
    /// A session of a begun use.
    struct Begun: Sendable {
        let session: TPMSession
        /// What loads the session again; nil while it is loaded.
        var context: [UInt8]?
        /// Whether the use has not ended.
        let isBegun: @Sendable () -> Bool
    }
    var key: TPMEntity?
    var authority: TPMEntity?
    /// The session of the last use, which the next one may have.
    var idle: TPMSession?
    /// The sessions of uses that were begun and not finished.
    var begun: [KeyChallenge.Identifier: Begun] = [:]
}
