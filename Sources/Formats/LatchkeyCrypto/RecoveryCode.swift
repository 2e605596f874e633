// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The code that opens a backup, or a keychain on a TPM: 25 characters with 125 random bits, and a check character that detects typing errors.
///
/// It is encoded in Crockford's base 32, which has no similar-looking characters, and is written as
/// `XXXXX-XXXXX-XXXXX-XXXXX-XXXXXX`.
package struct RecoveryCode: Sendable {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let symbols = 25
    /// Characters of the last group of `grouped`.
    private static let lastGroup = 6
    /// A prime, so that every single wrong character and every swap of two neighbours changes the check value. Only
    /// confusing 0 (value 0) with Z (value 31) is not detected.
    private static let modulus = 31

    /// The 26 characters in capitals, without dashes.
    package let characters: SecretBytes

    package static func make() throws(Failure) -> RecoveryCode {
        let random = try randomSecret(symbols)
        let characters = SecretBytes(count: symbols + 1) { output in
            random.withBytes { random in
                for (index, byte) in random.enumerated() { output[index] = alphabet[Int(byte & 31)] }
            }
            output[symbols] = alphabet[check(UnsafeRawBufferPointer(output))]
        }
        return RecoveryCode(characters: characters)
    }

    private init(characters: SecretBytes) { self.characters = characters }

    /// Reads a typed code: accepts small letters, spaces and dashes, O as 0, and I and L as 1.
    ///
    /// - Returns: nil for text that is not a recovery code. A valid code may still not open a given backup.
    package init?(typed: SecretBytes) {
        guard var read = Self.read(typed) else { return nil }
        defer { wipe(&read) }
        guard read.count == Self.symbols + 1,
            read.withUnsafeBytes({ Self.alphabet[Self.check($0)] }) == read[Self.symbols]
        else { return nil }
        characters = SecretBytes(read)
    }

    /// Whether a typed text is the last group of the code, or the whole code. Accepts what `init(typed:)` accepts.
    package func ends(with typed: SecretBytes) -> Bool {
        guard var read = Self.read(typed) else { return false }
        defer { wipe(&read) }
        guard [Self.lastGroup, characters.count].contains(read.count) else { return false }
        // `SecretBytes` compares in constant time.
        return SecretBytes(read)
            == characters.withBytes {
                SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(read.count)))
            }
    }

    /// The characters of a typed text in capitals; nil if one of them is not of the alphabet, or if there are too many.
    private static func read(_ typed: SecretBytes) -> [UInt8]? {
        var read: [UInt8] = []
        read.reserveCapacity(symbols + 1)
        let isClean = typed.withBytes { bytes in
            for byte in bytes where ![0x20, 0x2d, 0x0a, 0x0d].contains(byte) {
                var capital = byte
                if (0x61...0x7a).contains(byte) { capital -= 0x20 }
                if capital == 0x4f { capital = 0x30 }
                if capital == 0x49 || capital == 0x4c { capital = 0x31 }
                guard alphabet.contains(capital), read.count <= symbols else { return false }
                read.append(capital)
            }
            return true
        }
        guard isClean else {
            wipe(&read)
            return nil
        }
        return read
    }

    /// The check value: the sum of each character's value times its position from 1, modulo 31.
    private static func check(_ characters: UnsafeRawBufferPointer) -> Int {
        var sum = 0
        for index in 0..<symbols { sum += (index + 1) * (alphabet.firstIndex(of: characters[index]) ?? 0) }
        return sum % modulus
    }

    /// The code in groups separated by dashes, for a person to write down.
    package var grouped: SecretBytes {
        characters.withBytes { bytes in
            SecretBytes(count: bytes.count + 4) { output in
                var position = 0
                for (index, byte) in bytes.enumerated() {
                    if index.isMultiple(of: 5), (1...4).contains(index / 5) {
                        output[position] = 0x2d
                        position += 1
                    }
                    output[position] = byte
                    position += 1
                }
            }
        }
    }
}
