// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

/// Checks which copies of a secret remain in the process's memory after its use.
@Suite struct ResidueTests {
    @Test(.promise("secret.type")) func aSecretIsFoundWhileItLivesAndGoneAfterwards() throws {
        var secret: SecretBytes? = SecretTrace.makeSecret(byteCount: 4096)
        let trace = SecretTrace(of: try #require(secret))
        #expect(trace.copiesInMemory() == 1)
        secret = nil
        #expect(trace.copiesInMemory() == 0)
    }

    // Long, so that the end of a leaked copy is not overwritten at once.
    @Test func copyingACollectionLeavesOnlyTheCopy() throws {
        let secret = SecretTrace.makeSecret(byteCount: 5000)
        let trace = SecretTrace(of: secret)
        let copy = SecretBytes(OneByOne(secret))
        #expect(copy == secret)
        #expect(trace.copiesInMemory() == 2)
    }

    @Test func sealingAndOpeningLeaveNoPlaintextBehind() throws {
        let key = try key(filledWith: 1)
        let secret = SecretTrace.makeSecret(byteCount: 300)
        let trace = SecretTrace(of: secret)
        let sealed = try key.seal(secret, nonce: randomBytes(12), authenticating: [1])
        #expect(trace.copiesInMemory() == 1)
        var opened = try key.open(sealed, authenticating: [1])
        #expect(opened == secret)
        #expect(trace.copiesInMemory() == 2)
        opened = nil
        #expect(trace.copiesInMemory() == 1)
    }

    @Test func plaintextThatFailedAuthenticationIsWiped() throws {
        let key = try key(filledWith: 1)
        let secret = SecretTrace.makeSecret(byteCount: 300)
        let trace = SecretTrace(of: secret)
        var sealed = try key.seal(secret, nonce: randomBytes(12), authenticating: [1])
        sealed[sealed.count - 1] ^= 1
        #expect(try key.open(sealed, authenticating: [1]) == nil)
        #expect(trace.copiesInMemory() == 1)
    }

    @Test func aKeyIsNotCopiedByItsUse() throws {
        let secret = SecretTrace.makeSecret()
        let trace = SecretTrace(of: secret)
        let key = try #require(SymmetricKey(secret))
        _ = try key.authenticationCode([1, 2, 3])
        _ = try key.derive("label", context: [1])
        _ = try key.seal(SecretBytes([1]), nonce: randomBytes(12), authenticating: [])
        #expect(trace.copiesInMemory() == 1)
    }

    @Test func aDerivedKeyExistsOnce() throws {
        var derived: SymmetricKey? = try key(filledWith: 1).derive("residue")
        let trace = SecretTrace(of: try #require(derived).secret)
        #expect(trace.copiesInMemory() == 1)
        derived = nil
        #expect(trace.copiesInMemory() == 0)
    }

    @Test func combiningLeavesNoCopyOfItsParts() throws {
        let parts = [SecretTrace.makeSecret(), SecretTrace.makeSecret(byteCount: 48)]
        let traces = parts.map { SecretTrace(of: $0) }
        _ = try SymmetricKey.combining(parts, label: "residue")
        for trace in traces { #expect(trace.copiesInMemory() == 1) }
    }

    @Test func stretchingLeavesNoCopyOfThePassword() throws {
        let password = SecretTrace.makeSecret(byteCount: 40)
        let trace = SecretTrace(of: password)
        _ = try SymmetricKey.stretching(password, salt: [1], cost: 4)
        #expect(trace.copiesInMemory() == 1)
    }

    /// libcrypto stores the prepared key, and copies it while a message is hashed.
    @Test func aPreparedAuthenticationKeyLeavesNoCopyOfItsKey() throws {
        let secret = SecretTrace.makeSecret()
        let trace = SecretTrace(of: secret)
        var prepared: AuthenticationKey? = try AuthenticationKey(try #require(SymmetricKey(secret)))
        let kept = trace.copiesInMemory()
        _ = try prepared?.code([1, 2, 3])
        #expect(trace.copiesInMemory() == kept)
        prepared = nil
        #expect(trace.copiesInMemory() == 1)
    }
}

/// A collection other than an array, like a slice or a lazy collection.
private struct OneByOne: RandomAccessCollection {
    private let secret: SecretBytes
    let startIndex = 0
    var endIndex: Int { secret.count }

    init(_ secret: SecretBytes) { self.secret = secret }

    subscript(index: Int) -> UInt8 { secret.withBytes { $0[index] } }
}
