// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestSupport
import Testing

@testable import SSHAgent

@Suite struct SSHAgentRequestTests {
    private func read(_ bytes: [UInt8]) throws(SSHFormatError) -> SSHAgentRequest {
        try SSHAgentRequest(decoding: SecretBytes(bytes))
    }

    private static let bind = SessionBind(hostKey: [1], sessionID: [2], signature: [3], isForwarding: true)
    private static let bindBytes =
        [27] + SSHBytes.string(SessionBind.name) + SSHBytes.string([1]) + SSHBytes.string([2]) + SSHBytes.string([3])
        + [1]

    @Test func messagesOfProgramsAreRead() throws {
        #expect(try read([11]) == .identities)
        let sign = [13] + SSHBytes.string([1, 2]) + SSHBytes.string([3]) + SSHBytes.uint32(4)
        #expect(try read(sign) == .sign(key: [1, 2], data: [3]))
        #expect(try read([22] + SSHBytes.string("word")) == .lock(SecretBytes("word".utf8)))
        #expect(try read([23] + SSHBytes.string("")) == .unlock(SecretBytes("".utf8)))
        #expect(try read(Self.bindBytes) == .bind(Self.bind))
        #expect(try read([27] + SSHBytes.string("query")) == .query)
        #expect(try read([27] + SSHBytes.string("query") + [0]) == .malformedQuery)
        // An extension that is not known is refused like any unknown message; so is a name that is no text.
        #expect(try read([27] + SSHBytes.string("other@example.com")) == .unsupported(27))
        #expect(try read([27] + SSHBytes.string([0xff])) == .unsupported(27))
        for type in [1, 9, 17, 18, 19, 20, 21, 25, 26, 255] as [UInt8] {
            #expect(try read([type, 1, 2, 3]) == .unsupported(type))
        }
    }

    @Test func truncatedAndExtendedMessagesAreRefused() throws {
        let messages = [
            [11], [13] + SSHBytes.string([1, 2]) + SSHBytes.string([3]) + SSHBytes.uint32(0),
            [22] + SSHBytes.string("word"), [23] + SSHBytes.string("word"),
        ]
        for message in messages {
            for count in 0..<message.count {
                #expect(throws: SSHFormatError.self) { try read(Array(message[..<count])) }
            }
            #expect(throws: SSHFormatError.self) { try read(message + [0]) }
        }
        #expect(throws: SSHFormatError.self) {
            try read([13] + SSHBytes.string([1]) + SSHBytes.string([2]) + SSHBytes.uint32(1))
        }
    }

    /// A connection that tried to bind a session must not count as one that never tried.
    @Test func malformedBindIsNotAnUnknownExtension() throws {
        let nameEnd = 5 + SessionBind.name.utf8.count
        for count in nameEnd..<Self.bindBytes.count {
            #expect(try read(Array(Self.bindBytes[..<count])) == .malformedBind, "cut at \(count)")
        }
        #expect(try read(Self.bindBytes + [0]) == .malformedBind)
        for length in [0, SSHAgentLimits.sessionIDBytes + 1] {
            let session = SSHBytes.string([UInt8](repeating: 1, count: length))
            let bytes = [27] + SSHBytes.string(SessionBind.name) + SSHBytes.string([1]) + session
            #expect(try read(bytes + SSHBytes.string([3]) + [0]) == .malformedBind)
        }
    }

    @Test func lengthsBeyondTheMessageAreRefused() {
        for length in [1, 0x7fff_ffff, 0xffff_ffff] {
            for type in [13, 22, 23, 27] as [UInt8] {
                #expect(throws: SSHFormatError.self) { try read([type] + SSHBytes.uint32(length)) }
            }
        }
        let long = [22] + SSHBytes.string([UInt8](repeating: 0x61, count: SSHAgentLimits.passphraseBytes + 1))
        #expect(throws: SSHFormatError.self) { try read(long) }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let types = [11, 13, 22, 23, 27] as [UInt8]
            _ = try? read([types[generator.next(below: 5)]] + bytes)
        }
    }

    @Test func repliesHaveTheirLengthAndType() {
        #expect(SSHAgentReply.success.encoded() == [0, 0, 0, 1, 6])
        #expect(SSHAgentReply.failure.encoded() == [0, 0, 0, 1, 5])
        #expect(SSHAgentReply.extensionFailure.encoded() == [0, 0, 0, 1, 28])
        let names = SSHAgentReply.extensions([Array("a@b".utf8)]).encoded()
        #expect(names == SSHBytes.string([29] + SSHBytes.string("query") + SSHBytes.string("a@b")))
        let listed = SSHAgentReply.identities([.init(blob: [9], comment: "k")]).encoded()
        #expect(listed == SSHBytes.string([12, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 0, 0, 1, 0x6b]))
        #expect(SSHAgentReply.signature([8]).encoded() == SSHBytes.string([14, 0, 0, 0, 1, 8]))
    }

    @Test func numbersOfASignatureAreShortestForms() {
        let raw = [UInt8](repeating: 0, count: 30) + [1, 2] + [0x80] + [UInt8](repeating: 3, count: 31)
        let numbers = SSHBytes.string([1, 2]) + SSHBytes.string([0, 0x80] + [UInt8](repeating: 3, count: 31))
        #expect(
            SSHKeyBlob.signature(raw: raw) == SSHBytes.string("ecdsa-sha2-nistp256") + SSHBytes.string(numbers))
        #expect(SSHKeyBlob.signature(raw: [1]) == nil)
    }
}
