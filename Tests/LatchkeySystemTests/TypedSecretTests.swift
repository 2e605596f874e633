// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import Testing

/// What is typed, until it is taken.
@Suite struct TypedSecretTests {
    private func typed(_ text: String, capacity: Int = 64) -> TypedSecret {
        var secret = TypedSecret(capacity: capacity)
        for byte in text.utf8 { secret.append(byte) }
        return secret
    }

    @Test func takingReturnsWhatWasTypedAndLeavesNothing() {
        var secret = typed("Schlüssel")
        #expect(secret.take().copyBytes() == Array("Schlüssel".utf8))
        #expect(secret.isEmpty && secret.text.isEmpty && secret.take().copyBytes().isEmpty)
    }

    /// The backspace key removes what the user sees as one character, not one of its bytes.
    @Test(arguments: [("a", ""), ("aü", "a"), ("a€", "a"), ("a😀", "a"), ("", "")])
    func theLastCharacterIsRemovedWithAllItsBytes(text: String, rest: String) {
        var secret = typed(text)
        secret.dropLast()
        #expect(secret.text == rest)
        #expect(secret.take().copyBytes() == Array(rest.utf8))
    }

    /// Invalid UTF-8: continuation bytes alone are no character, and removing them stays within the buffer.
    @Test func continuationBytesAloneAreRemovedTogether() {
        var secret = TypedSecret(capacity: 4)
        for byte in [0x80, 0x81, 0x82] as [UInt8] { secret.append(byte) }
        #expect(!secret.isEmpty)
        secret.dropLast()
        #expect(secret.isEmpty)
    }

    @Test func inputBeyondTheCapacityIsDropped() {
        var secret = typed("123456", capacity: 4)
        #expect(secret.take().copyBytes() == Array("1234".utf8))
    }

    @Test func clearingAllowsTypingAgain() {
        var secret = typed("wrong", capacity: 5)
        secret.clear()
        for byte in "right".utf8 { secret.append(byte) }
        #expect(secret.take().copyBytes() == Array("right".utf8))
    }
}
