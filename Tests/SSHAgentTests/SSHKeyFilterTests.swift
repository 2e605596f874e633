// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import Testing

@testable import SSHAgent

/// Which items of the daemon are offered.
@Suite struct SSHKeyFilterTests {
    private static let rule = AccessControl(
        accessibility: .whenPasscodeSetThisDeviceOnly, constraints: [.userPresence, .privateKeyUsage])

    private func item(
        _ rule: AccessControl? = Self.rule, change: (inout Attributes) -> Void = { _ in }
    ) throws -> FoundItem {
        var attributes = Attributes.ofKey(.privateKey, .ellipticCurve, bitCount: 256, isPermanent: true)
        attributes[.applicationLabel] = .data(SSHKeyMark.applicationLabel)
        attributes[.applicationTag] = .data(Array("work".utf8))
        attributes[.tokenID] = .text("com.apple.setoken")
        attributes[.publicKey] = .data(try PrivateKey.generate(.p256).publicKey.externalRepresentation)
        change(&attributes)
        return FoundItem(
            itemClass: .key, attributes: attributes, accessControl: rule, persistentReference: [1, 2, 3])
    }

    @Test func markedProtectedKeyOfTheEnclaveIsOffered() throws {
        let key = try #require(DaemonKeyStore.key(try item()))
        #expect(key.name == "work" && key.reference == [1, 2, 3])
    }

    @Test func keyWithoutTheMarkIsNotOffered() throws {
        #expect(DaemonKeyStore.key(try item { $0[.applicationLabel] = .data([1]) }) == nil)
        #expect(DaemonKeyStore.key(try item { $0[.applicationLabel] = nil }) == nil)
    }

    @Test func keyThatNeedsNoPersonIsNotOffered() throws {
        let rules: [AccessControl?] = [
            nil, AccessControl(constraints: [.privateKeyUsage]),
            AccessControl(constraints: [.privateKeyUsage, .applicationPassword]),
            AccessControl(constraints: [.userPresence, .privateKeyUsage, .applicationPassword]),
        ]
        for rule in rules { #expect(DaemonKeyStore.key(try item(rule)) == nil, "\(String(describing: rule))") }
    }

    @Test func anythingButAPrivateKeyOfTheEnclaveIsNotOffered() throws {
        #expect(DaemonKeyStore.key(try item { $0[.tokenID] = nil }) == nil)
        #expect(DaemonKeyStore.key(try item { $0[.keyClass] = .number(KeyHalf.publicKey.rawValue) }) == nil)
        #expect(DaemonKeyStore.key(try item { $0[.publicKey] = .data([4, 1]) }) == nil)
        let other = try PrivateKey.generate(.p384).publicKey.externalRepresentation
        #expect(DaemonKeyStore.key(try item { $0[.publicKey] = .data(other) }) == nil)
    }
}
