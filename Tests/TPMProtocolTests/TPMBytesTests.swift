// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TPMProtocol
import TestSupport
import Testing

@Suite struct TPMBytesTests {
    @Test func numbersAreBigEndianAndBuffersHaveTheirLength() throws {
        var writer = TPMWriter()
        writer.add(UInt8(1))
        writer.add(UInt16(0x0203))
        writer.add(UInt32(0x0405_0607))
        writer.add(Int32(-1))
        try writer.add(sized: [8, 9])
        #expect(writer.bytes == [1, 2, 3, 4, 5, 6, 7, 0xff, 0xff, 0xff, 0xff, 0, 2, 8, 9])
        #expect(throws: Failure.self) { try writer.add(sized: [UInt8](repeating: 0, count: 65_536)) }
    }

    /// Every part of a public area, with every byte changed, is decoded to what it says or refused.
    @Test func truncatedAndChangedPublicAreasAreRefusedOrDifferent() throws {
        let point = try #require(TPMPoint([4] + [UInt8](repeating: 7, count: 64)))
        for area in [
            TPMPublicArea.storageRoot, .authority(point), .enclaveKey(policy: [UInt8](repeating: 1, count: 32)),
        ] {
            let encoded = try area.encoded()
            #expect(try TPMPublicArea(decoding: encoded) == area)
            for count in 0..<encoded.count {
                #expect(throws: Failure.self) { try TPMPublicArea(decoding: Array(encoded[..<count])) }
            }
            #expect(throws: Failure.self) { try TPMPublicArea(decoding: encoded + [0]) }
            for index in encoded.indices {
                var changed = encoded
                changed[index] ^= 0x01
                let decoded = try? TPMPublicArea(decoding: changed)
                #expect(decoded != area, "byte \(index)")
                if let decoded { #expect(try decoded.name() != area.name(), "byte \(index)") }
            }
        }
    }

    @Test func randomBytesNeverTrapTheReader() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = try? TPMPublicArea(decoding: bytes)
            var reader = TPMReader(bytes)
            while !reader.isAtEnd {
                guard (try? reader.sized(limit: 16)) != nil, (try? reader.uint32()) != nil else { break }
            }
        }
    }

    @Test func coordinateWithoutLeadingZerosIsPadded() throws {
        var writer = TPMWriter()
        let area = TPMPublicArea.authority(
            try #require(TPMPoint([4] + [0] + [UInt8](repeating: 5, count: 63))))
        writer.add(try area.encoded().dropLast(68))
        try writer.add(sized: [UInt8](repeating: 5, count: 31))
        try writer.add(sized: [UInt8](repeating: 5, count: 32))
        #expect(try TPMPublicArea(decoding: writer.bytes) == area)
    }
}

@Suite struct TPMResponseCodeTests {
    @Test(
        arguments: [
            (0x9a2, TPMResponseCode.badAuthorization), (0x99d, .policyFailed), (0x1df, .integrity),
            (0x18b, .handleGone),
            (0x5db, .signatureWrong), (0x12f, .authorizationUnavailable), (0x921, .lockout),
            (0x98e, .authorizationFailed),
            (0x1e7, .pointNotOnCurve), (0x902, .objectMemory),
        ] as [(UInt32, TPMResponseCode)]) func numberOfTheParameterIsNotPartOfTheKind(
            code: UInt32, kind: TPMResponseCode
        )
    {
        #expect(TPMResponseCode(code).kind == kind)
    }

    @Test func onlyFourCodesAllowTheSameCommandAgain() {
        #expect((0...0xfff).filter { TPMResponseCode($0).isRetry } == [0x908, 0x90a, 0x920, 0x922])
    }
}

@Suite struct ApprovalTextTests {
    private let nonce = [UInt8](repeating: 1, count: 16)
    private let command = [UInt8](repeating: 2, count: 32)

    @Test func textIsNonceExpiryCommandAndReference() throws {
        let text = try ApprovalText(nonce: nonce, expirySeconds: 60, command: command, reference: [3])
        #expect(text.bytes == nonce + [0, 0, 0, 60] + command + [3])
    }

    /// A TPM accepts each of these.
    @Test func textThatIsNotForOneSessionAndOneCommandIsRefused() {
        for (nonce, expiry, command) in [
            ([], 60, command), (Array(nonce.dropLast()), 60, command), (nonce, 0, command), (nonce, -1, command),
            (nonce, 60, []), (nonce, 60, Array(command.dropLast())),
        ] as [([UInt8], Int32, [UInt8])] {
            #expect(throws: Failure.self) {
                try ApprovalText(nonce: nonce, expirySeconds: expiry, command: command, reference: [])
            }
        }
    }
}

@Suite struct StreamCipherTests {
    /// NIST SP 800-38A, section F.3.13, CFB128-AES128, first block.
    @Test func firstBlockOfThePublishedExample() throws {
        func bytes(_ hex: String) -> SecretBytes {
            let digits = Array(hex.utf8).map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0) }
            return SecretBytes(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
        }
        let material = bytes("2b7e151628aed2a6abf7158809cf4f3c000102030405060708090a0b0c0d0e0f")
        let plain = bytes("6bc1bee22e409f96e93d7e117393172a")
        let sealed = bytes("3b3fd92eb72dad20333449f8e83cfb4a")
        #expect(try StreamCipher.apply(.encrypt, to: plain, keyAndVector: material) == sealed)
        #expect(try StreamCipher.apply(.decrypt, to: sealed, keyAndVector: material) == plain)
        #expect(throws: Failure.self) { try StreamCipher.apply(.encrypt, to: plain, keyAndVector: plain) }
    }
}
