// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// What one connection holds in the memory of the TPM: one key, the key of one authority, and sessions. A TPM has room
/// for three of each; without a resource manager other programs share it.
struct TPMMemory {
    private var root: StorageRoot?
    private var key: TPMEntity?
    private var authority: TPMEntity?
    var sessions = TPMUseSessions()
    private var generation: UInt64 = 0

    /// Forgets all handles if the connection is another one than before.
    mutating func follow(_ current: UInt64) {
        guard generation != current else { return }
        (root, key, authority, sessions) = (nil, nil, nil, TPMUseSessions())
        generation = current
    }

    // MARK: - Objects

    /// Returns the storage root key with that name; nil for any with our template.
    mutating func storageRoot(_ name: [UInt8]?, _ client: inout TPMClient) throws(TPMError) -> StorageRoot {
        if let root, name == nil || root.entity.name == name { return root }
        let found = try client.storageRoot(named: name)
        root = found
        return found
    }

    /// Returns the loaded key of a blob.
    mutating func load(_ blob: TPMBlob, _ client: inout TPMClient) throws(TPMError) -> TPMEntity {
        let name = try failing { () throws(Failure) in try blob.area.name() }
        if let key, key.name == name { return key }
        if let old = key {
            key = nil
            try client.flush(old.handle)
        }
        let root = try storageRoot(blob.parent, &client)
        let loaded: TPMEntity
        do throws(TPMError) {
            loaded = try client.load(blob.privatePart, blob.area, below: root)
        } catch {
            switch error.kind {
            case .integrity, .size:
                throw .failed(Failure(.internalFailure, "The private part of the key was changed.", cause: error))
            default: throw error
            }
        }
        key = loaded
        return loaded
    }

    /// Returns the loaded key of the authority of a blob.
    mutating func loadAuthority(_ blob: TPMBlob, _ client: inout TPMClient) throws(TPMError) -> TPMEntity {
        let area = try failing { () throws(Failure) in try TPMBlob.authority(blob.binding) }
        let name = try failing { () throws(Failure) in try area.name() }
        if let authority, authority.name == name { return authority }
        if let old = authority {
            authority = nil
            try client.flush(old.handle)
        }
        let loaded = try client.loadExternal(area)
        authority = loaded
        return loaded
    }

    /// Removes the keys that were loaded for the last use.
    mutating func forgetKeys(_ client: inout TPMClient) {
        for key in [key, authority].compactMap(\.self) {
            // One that cannot be removed now is removed with the connection.
            try? client.flush(key.handle)
        }
        (key, authority) = (nil, nil)
    }

    /// Removes everything but the sessions of begun uses. What cannot be removed now is removed with the connection.
    mutating func releaseAll(_ client: inout TPMClient) {
        sessions.releaseIdle(&client)
        forgetKeys(&client)
    }

    /// Removes everything but the sessions of begun uses, and saves those outside the TPM but for one that a carried
    /// command names.
    mutating func makeRoom(forSession handle: TPMHandle? = nil, _ client: inout TPMClient) throws(TPMError) {
        releaseAll(&client)
        try sessions.makeRoom(&client)
        if let handle { try sessions.load(handle, &client) }
    }

    // MARK: - Sessions

    /// Gives a use a session; returns its handle and the nonce of the TPM for it.
    ///
    /// - Parameter isBegun: whether the use has not ended; the session of one that has is removed.
    mutating func beginSession(
        _ use: KeyChallenge.Identifier, below parent: [UInt8], _ client: inout TPMClient,
        isBegun: @escaping @Sendable () -> Bool
    ) throws(TPMError) -> (handle: TPMHandle, nonce: [UInt8]) {
        try sessions.makeRoom(&client)
        let session: TPMSession
        if let idle = try sessions.takeIdle(&client) {
            session = idle
        } else {
            session = try startPolicySession(below: parent, &client)
        }
        sessions.add(session, for: use, isBegun)
        return (session.handle, session.nonce)
    }

    private mutating func startPolicySession(
        below parent: [UInt8], _ client: inout TPMClient
    ) throws(TPMError) -> TPMSession {
        let root = try storageRoot(parent, &client)
        do throws(TPMError) {
            return try client.startSession(.policy, salted: root)
        } catch {
            // Another program may have removed the storage root key since it was found; it is made again.
            guard error.kind == .handleGone || error.kind == .value else { throw error }
            self.root = nil
            return try client.startSession(.policy, salted: storageRoot(parent, &client))
        }
    }
}
