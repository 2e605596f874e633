// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol
import TestSupport
import Testing

@testable import TPMDriver

/// A TPM without room for a command answers so before it changes anything: with the same bytes the command is valid once
/// more, also one that a session authorizes.
@Suite(.needs(.softwareTPM)) struct FullTPMTests {
    private static let noRoom: [UInt8] = [0x80, 1, 0, 0, 0, 10, 0, 0, 9, 2]
    private let machine: TPMFixture

    init() throws { machine = try TPMFixture() }

    /// Creates an object below the storage root key, which needs two places, in a session that authenticates the command
    /// and encrypts its secret.
    private static func create(
        _ client: inout TPMClient, _ root: StorageRoot, in session: inout TPMSession
    ) throws(TPMError) {
        let parameters = try failing { () throws(Failure) in
            try TPMCreation.parametersAfterSensitive(TPMSealedArea(policy: nil).encoded())
        }
        _ = try client.send(
            .create, [root.entity], parameters, in: &session, secret: TPMCreation.sensitive(data: SecretBytes([1, 2])))
    }

    private static func authority() throws -> TPMPublicArea {
        .authority(try #require(TPMPoint(PrivateKey.generate(.p256).publicKey.externalRepresentation)))
    }

    @Test func aCommandOfASessionIsSentAgainAsItWas() throws {
        let areas = try (0..<3).map { _ in try Self.authority() }
        let held = try machine.chip.use { (_, client) throws(TPMError) in
            let root = try client.storageRoot(named: nil)
            var session = try client.startSession(.hmac, salted: root)
            var objects: [TPMEntity] = []
            for area in areas { objects.append(try client.loadExternal(area)) }
            (client.held.key, client.held.authority) = (objects[0], objects[1])
            try Self.create(&client, root, in: &session)
            // The nonces of both sides are still the same.
            try Self.create(&client, root, in: &session)
            try client.flush(session.handle)
            return [client.held.key, client.held.authority].compactMap { $0?.handle }
        }
        #expect(held.isEmpty)
        #expect(machine.bus.capture.count(of: Self.noRoom) == 1)
    }

    @Test func aCommandIsNotSentAgainWhereNothingIsKept() throws {
        let areas = try (0..<3).map { _ in try Self.authority() }
        let failure = #expect(throws: Failure.self) {
            try machine.chip.use { (_, client) throws(TPMError) in
                let root = try client.storageRoot(named: nil)
                for area in areas { _ = try client.loadExternal(area) }
                _ = try client.startSession(.hmac, salted: root)
            }
        }
        #expect(failure?.status == .enclaveUnavailable && failure?.hint.contains("Other programs") == true)
        #expect(machine.bus.capture.count(of: Self.noRoom) == 1)
    }

    /// The object that a command names is not removed for it.
    @Test func whatACommandNamesStays() throws {
        let areas = try (0..<3).map { _ in try Self.authority() }
        machine.bus.refuse(.readPublic, [0x902])
        let names = try machine.chip.use { (_, client) throws(TPMError) -> [[UInt8]] in
            let (named, kept) = (try client.loadExternal(areas[0]), try client.loadExternal(areas[1]))
            (client.held.key, client.held.authority) = (named, kept)
            let read = try client.readEncodedPublic(named.handle).name
            let left = [client.held.key, client.held.authority].compactMap { $0?.name }
            try client.flush(named.handle)
            return [read, named.name] + left
        }
        #expect(names.count == 3 && Set(names).count == 1)
    }
}

extension [UInt8] {
    fileprivate func count(of part: [UInt8]) -> Int { indices.count { self[$0...].starts(with: part) } }
}
