// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// What one connection holds in the memory of the TPM: one key, the key of one authority, and sessions. A TPM has room
/// for three of each; without a resource manager other programs share it.
struct TPMMemory {
    /// A session of a begun use. All but the latest are saved outside the TPM.
    private struct Held: Sendable {
        var session: TPMSession
        /// What loads the session again; nil while it is loaded.
        var context: [UInt8]?
        /// Whether the use has not ended.
        let isBegun: @Sendable () -> Bool
    }
    private var root: StorageRoot?
    private var key: TPMEntity?
    private var authority: TPMEntity?
    /// The session of the last use, which the next one may have.
    private var idle: TPMSession?
    private var begun: [KeyChallenge.Identifier: Held] = [:]
    private var generation: UInt64 = 0

    /// Seconds after which a nonce is not used for another approval, which is valid for 60 seconds from the nonce.
    private static let nonceSeconds: Int64 = 20

    /// Forgets all handles if the connection is another one than before.
    mutating func follow(_ current: UInt64) {
        guard generation != current else { return }
        (root, key, authority, idle, begun) = (nil, nil, nil, nil, [:])
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
        do throws(TPMError) {
            key = try client.load(blob.privatePart, blob.area, below: root)
        } catch {
            switch error.kind {
            case .integrity, .size:
                throw .failed(Failure(.internalFailure, "The private part of the key was changed.", cause: error))
            default: throw error
            }
        }
        return key ?? TPMEntity(.none)
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

    // MARK: - Sessions

    /// Gives a use a session; returns the nonce of the TPM for it.
    ///
    /// - Parameter isBegun: whether the use has not ended; the session of one that has is removed.
    mutating func beginSession(
        _ use: KeyChallenge.Identifier, below parent: [UInt8], _ client: inout TPMClient,
        isBegun: @escaping @Sendable () -> Bool
    ) throws(TPMError) -> [UInt8] {
        try endSessions(&client)
        for (other, held) in begun where held.context == nil {
            begun[other]?.context = try client.saveContext(held.session.handle)
        }
        if let session = idle {
            idle = nil
            if client.clock.uptime - session.nonceTime < Self.nonceSeconds * 1_000_000_000 {
                begun[use] = Held(session: session, isBegun: isBegun)
                return session.nonce
            }
            try client.flush(session.handle)
        }
        let session = try startPolicySession(below: parent, &client)
        begun[use] = Held(session: session, isBegun: isBegun)
        return session.nonce
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

    /// Returns the session of a use, loaded; it belongs to the caller.
    mutating func takeSession(
        _ use: KeyChallenge.Identifier, _ client: inout TPMClient
    ) throws(TPMError) -> TPMSession {
        guard let held = begun.removeValue(forKey: use) else {
            throw .failed(
                Failure(.timedOut, "The connection to the TPM ended before the key was used.", hint: "Try again."))
        }
        if let context = held.context { try client.loadContext(context, of: held.session.handle) }
        return held.session
    }

    /// Keeps a session for the next use.
    mutating func keep(_ session: TPMSession, _ client: inout TPMClient) {
        guard idle == nil else { return forget(session, &client) }
        idle = session
        idle?.password = nil
    }

    /// Removes a session.
    mutating func forget(_ session: TPMSession, _ client: inout TPMClient) {
        // A session that cannot be removed now is removed with the connection.
        try? client.flush(session.handle)
    }

    /// Removes the sessions of uses that have ended without being finished.
    private mutating func endSessions(_ client: inout TPMClient) throws(TPMError) {
        for (use, held) in begun where !held.isBegun() {
            begun[use] = nil
            // A saved session has its handle until it is removed.
            try client.flush(held.session.handle)
        }
    }

    /// Removes everything but the sessions of begun uses. What cannot be removed now is removed with the connection.
    mutating func releaseAll(_ client: inout TPMClient) {
        // A session that remains is removed when the next use begins.
        try? endSessions(&client)
        if let session = idle { forget(session, &client) }
        idle = nil
        forgetKeys(&client)
    }

    /// Removes the keys that were loaded for the last use.
    mutating func forgetKeys(_ client: inout TPMClient) {
        for key in [key, authority].compactMap(\.self) {
            // One that cannot be removed now is removed with the connection.
            try? client.flush(key.handle)
        }
        (key, authority) = (nil, nil)
    }
}
