// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import TestSupport
import Testing

@testable import SSHAgent

@Suite struct HostKeyTests {
    private static let session = [UInt8]((0..<32).map { $0 })

    @Test(arguments: TestHost.Kind.allCases) func signatureOfTheHostIsValidAndAnyOtherIsNot(kind: TestHost.Kind) throws
    {
        let host = try TestHost(kind)
        let key = try HostKey(host.blob)
        let signature = try host.sign(Self.session)
        #expect(key.verifies(Self.session, signature: signature))
        #expect(!key.verifies(Self.session.reversed(), signature: signature))
        #expect(!(try HostKey(TestHost(kind).blob)).verifies(Self.session, signature: signature))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.verifies(Self.session, signature: changed), "byte \(index)")
            #expect(!key.verifies(Self.session, signature: Array(signature[..<index])), "cut at \(index)")
        }
        #expect(!key.verifies(Self.session, signature: signature + [0]))
    }

    /// RFC 8032, section 7.1, TEST SHA(abc).
    @Test func publishedEd25519SignatureIsValid() throws {
        let key = try hex("ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf")
        let message = try hex(
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
                + "454d4423643ce80e2a9ac94fa54ca49f")
        let signature = try hex(
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
                + "3dca179c138ac17ad9bef1177331a704")
        let blob = SSHBytes.string("ssh-ed25519") + SSHBytes.string(key)
        let host = try HostKey(blob)
        let signed = SSHBytes.string("ssh-ed25519") + SSHBytes.string(signature)
        #expect(host.verifies(message, signature: signed))
        #expect(!host.verifies(message + [0], signature: signed))
        #expect(!host.verifies(message, signature: SSHBytes.string("ssh-rsa") + SSHBytes.string(signature)))
        #expect(!host.verifies(message, signature: SSHBytes.string("ssh-ed25519") + SSHBytes.string(signature + [0])))
        for count in [0, 31, 33] {
            let other = SSHBytes.string("ssh-ed25519") + SSHBytes.string([UInt8](repeating: 1, count: count))
            #expect(throws: SSHFormatError.self) { try HostKey(other) }
        }
    }

    @Test func signatureWithSHA1IsNotAccepted() throws {
        let host = try TestHost(.rsaSHA256)
        let key = try HostKey(host.blob)
        for name in ["ssh-rsa", "rsa-sha2-256", "rsa-sha2-512"] {
            #expect(!key.verifies(Self.session, signature: try host.rsa(Self.session, .sha1, name)), "\(name)")
        }
        #expect(!key.verifies(Self.session, signature: try host.rsa(Self.session, .sha256, "rsa-sha2-512")))
    }

    @Test func certificateHasTheFingerprintOfTheKeyInside() throws {
        let key = try HostKey(Published.blob(Published.key))
        let certificate = try HostKey(Published.blob(Published.certificate))
        #expect(key.fingerprint == Published.fingerprint)
        #expect(certificate.fingerprint == Published.fingerprint)
        #expect(certificate.plainBlob == key.blob && certificate != key)
    }

    @Test func truncatedAndExtendedKeysAreRefused() throws {
        let blobs =
            try TestHost.Kind.allCases.map { try TestHost($0).blob }
            + [Published.key, .init(Published.certificate)].map {
                try Published.blob($0)
            }
        for blob in blobs {
            for count in 0..<blob.count {
                #expect(throws: SSHFormatError.self) { try HostKey(Array(blob[..<count])) }
            }
            #expect(throws: SSHFormatError.self) { try HostKey(blob + [0]) }
        }
    }

    @Test func keysOfOtherTypesAreRefused() throws {
        let point = try TestHost(.p256).blob.suffix(65)
        for (name, curve) in [
            ("ecdsa-sha2-nistp384", "nistp256"), ("ecdsa-sha2-nistp256", "nistp384"), ("ssh-dss", "nistp256"),
            ("sk-ecdsa-sha2-nistp256@openssh.com", "nistp256"),
        ] {
            let blob = SSHBytes.string(name) + SSHBytes.string(curve) + SSHBytes.string(Array(point))
            #expect(throws: SSHFormatError.self) { try HostKey(blob) }
        }
    }
}
