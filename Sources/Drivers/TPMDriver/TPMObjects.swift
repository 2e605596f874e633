// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol

// Sessions, keys and their removal.

extension TPMClient {
    /// Returns the public area and the name of an object (`TPM2_ReadPublic`); nil for an object of a form that Latchkey
    /// does not use.
    mutating func readPublic(_ handle: TPMHandle) throws(TPMError) -> (area: TPMPublicArea, name: [UInt8])? {
        let (encoded, name) = try readEncodedPublic(handle)
        do throws(Failure) {
            guard try TPMName.of(encoded) == name else { return nil }
            return (try TPMPublicArea(decoding: encoded), name)
        } catch {
            return nil
        }
    }

    /// Returns the public area and the name of an object of any form.
    mutating func readEncodedPublic(_ handle: TPMHandle) throws(TPMError) -> (area: [UInt8], name: [UInt8]) {
        // The name of the object is not known yet; without sessions it is in no digest.
        let response = try send(.readPublic, [TPMEntity(handle)])
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let (encoded, name) = (try reader.sized(limit: 512), try reader.sized(limit: 128))
            _ = try reader.sized(limit: 128)
            try reader.checkEnd()
            return (encoded, name)
        }
    }

    /// Starts a session whose key only the TPM with that storage root key can compute.
    mutating func startSession(_ type: TPMSessionType, salted root: StorageRoot) throws(TPMError) -> TPMSession {
        let (salt, caller, parameters) = try failing { () throws(Failure) in
            let salt = try SessionSalt(for: root.point)
            let caller = try random.bytes(TPMSession.nonceBytes).copyBytes()
            var parameters = TPMWriter()
            try parameters.add(sized: caller)
            try parameters.add(sized: salt.encrypted)
            parameters.add(type.rawValue)
            parameters.add(.aes)
            parameters.add(UInt16(128))
            parameters.add(.cfb)
            parameters.add(.sha256)
            return (salt, caller, parameters.bytes)
        }
        let response = try send(.startAuthSession, [root.entity, TPMEntity(.none)], parameters)
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let nonce = try reader.sized(limit: 64)
            try reader.checkEnd()
            guard let handle = response.handle, nonce.count >= TPMSession.nonceBytes else { throw TPMReader.malformed }
            return TPMSession(
                handle: handle, root: root.entity.name, key: try SessionKey(salt, tpm: nonce, caller: caller),
                nonce: nonce, nonceTime: clock.uptime)
        }
    }

    /// Loads the public part of a key, with which the TPM checks signatures (`TPM2_LoadExternal`).
    mutating func loadExternal(_ area: TPMPublicArea) throws(TPMError) -> TPMEntity {
        let (parameters, name) = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: [])
            try parameters.add(sized: area.encoded())
            // The hierarchy of the owner, so that tickets for its signatures are possible.
            parameters.add(TPMHandle.owner)
            return (parameters.bytes, try area.name())
        }
        return try loaded(send(.loadExternal, [], parameters), name)
    }

    /// Loads a key below the storage root key (`TPM2_Load`).
    mutating func load(
        _ privatePart: [UInt8], _ area: TPMPublicArea, below root: StorageRoot
    ) throws(TPMError) -> TPMEntity {
        let encoded = try failing { () throws(Failure) in try area.encoded() }
        return try load(privatePart, publicArea: encoded, below: root)
    }

    /// Loads an object with that encoded public area below the storage root key (`TPM2_Load`).
    mutating func load(
        _ privatePart: [UInt8], publicArea: [UInt8], below root: StorageRoot
    ) throws(TPMError) -> TPMEntity {
        let (parameters, name) = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: privatePart)
            try parameters.add(sized: publicArea)
            return (parameters.bytes, try TPMName.of(publicArea))
        }
        return try loaded(send(.load, [root.entity], parameters, emptyPassword: true), name)
    }

    private mutating func loaded(_ response: TPMResponse, _ name: [UInt8]) throws(TPMError) -> TPMEntity {
        let entity: TPMEntity
        do throws(Failure) {
            var reader = TPMReader(response.parameters)
            guard let handle = response.handle, try reader.sized(limit: 64) == name else { throw TPMReader.malformed }
            try reader.checkEnd()
            entity = TPMEntity(handle, name: name)
        } catch {
            // The first error says more.
            if let handle = response.handle { try? flush(handle) }
            disconnect()
            throw .failed(error)
        }
        return entity
    }

    /// Removes an object or a session from the memory of the TPM. One that is not there any more is no error.
    mutating func flush(_ handle: TPMHandle) throws(TPMError) {
        var parameters = TPMWriter()
        parameters.add(handle)
        do throws(TPMError) {
            _ = try send(.flushContext, [], parameters.bytes)
        } catch {
            guard let kind = error.kind, [.handleGone, .value, .flushed].contains(kind) else { throw error }
        }
    }

    /// Moves a session out of the memory of the TPM, which holds few; returns what `contextLoad` needs.
    mutating func saveContext(_ handle: TPMHandle) throws(TPMError) -> [UInt8] {
        try send(.contextSave, [TPMEntity(handle)]).parameters
    }

    /// Moves a session back; it has the handle that it had.
    mutating func loadContext(_ context: [UInt8], of handle: TPMHandle) throws(TPMError) {
        let response = try send(.contextLoad, [], context)
        guard response.handle == handle else {
            disconnect()
            throw .failed(TPMReader.malformed)
        }
    }
}
