// SPDX-License-Identifier: Apache-2.0

import TPMProtocol
import Testing

// Keys and sessions without any protection on their way, as an attacker may use them.

extension RawTPM {
    /// A created key: the public and the private part.
    struct Made {
        var area: [UInt8]
        var privatePart: [UInt8]
    }

    /// Creates the storage root key.
    func makeStorageRoot() throws -> TPMHandle {
        let made = try send(
            .createPrimary, handles: [.owner], Self.creation(.storageRoot), [.emptyPassword], returnsHandle: true)
        return try #require(made.handle)
    }

    /// Creates a key without a password.
    func create(_ template: TPMPublicArea, below root: TPMHandle) throws -> Made {
        let made = try send(.create, handles: [root], Self.creation(template), [.emptyPassword])
        var reader = TPMReader(made.parameters)
        let privatePart = try reader.sized(limit: 1024)
        return Made(area: try reader.sized(limit: 512), privatePart: privatePart)
    }

    /// Loads a key; returns its handle and its name.
    func load(_ made: Made, below root: TPMHandle) throws -> (TPMHandle, [UInt8]) {
        var parameters = TPMWriter()
        try parameters.add(sized: made.privatePart)
        try parameters.add(sized: made.area)
        let loaded = try send(.load, handles: [root], parameters.bytes, [.emptyPassword], returnsHandle: true)
        return (try #require(loaded.handle), try TPMName.of(made.area))
    }

    /// Loads a public key.
    func loadExternal(_ area: TPMPublicArea) throws -> TPMHandle {
        var parameters = TPMWriter()
        try parameters.add(sized: [])
        try parameters.add(sized: area.encoded())
        parameters.add(TPMHandle.owner)
        return try #require(try send(.loadExternal, parameters.bytes, returnsHandle: true).handle)
    }

    /// Removes an object or a session.
    func flush(_ handle: TPMHandle) throws {
        var parameters = TPMWriter()
        parameters.add(handle)
        _ = try send(.flushContext, parameters.bytes)
    }

    /// Starts a session without a key; returns its handle and the nonce of the TPM.
    func startPolicy(type: TPMSessionType = .policy) throws -> (TPMHandle, [UInt8]) {
        var parameters = TPMWriter()
        try parameters.add(sized: [UInt8](repeating: 1, count: 16))
        try parameters.add(sized: [])
        parameters.add(type.rawValue)
        parameters.add(TPMAlgorithm.none)
        parameters.add(.sha256)
        let started = try send(
            .startAuthSession, handles: [.none, .none], parameters.bytes, returnsHandle: true)
        var reader = TPMReader(started.parameters)
        return (try #require(started.handle), try reader.sized(limit: 64))
    }

    /// Waits until the clock of the TPM has passed the given milliseconds (`TPM2_ReadClock`).
    func wait(milliseconds: UInt64) throws {
        func now() throws -> UInt64 {
            var reader = TPMReader(try send(number: 0x181, handles: [], [], []).parameters)
            return UInt64(try reader.uint32()) << 32 | UInt64(try reader.uint32())
        }
        let end = try now() + milliseconds
        while try now() <= end {}
    }

    private static func creation(_ template: TPMPublicArea) throws -> [UInt8] {
        var parameters = TPMWriter()
        try parameters.add(sized: [0, 0, 0, 0])
        try parameters.add(sized: template.encoded())
        try parameters.add(sized: [])
        parameters.add(UInt32(0))
        return parameters.bytes
    }

    /// The encoded parameters of a signature of a digest.
    static func signing(_ digest: [UInt8]) throws -> [UInt8] {
        var parameters = TPMWriter()
        try parameters.add(sized: digest)
        parameters.add(.ecdsa)
        parameters.add(.sha256)
        parameters.add(UInt16(0x8024))
        parameters.add(TPMHandle.none)
        try parameters.add(sized: [])
        return parameters.bytes
    }
}
