// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams

/// The additive set hash of all rows: the sum of one keyed hash per row, modulo 2^256, and the number of rows.
///
/// The hashes are added and not combined by exclusive or, with which two copies of a deleted row would cancel out.
/// The sum is only stored sealed, in the newest audit entry: the plain sums before and after a write would reveal the
/// difference of two row hashes.
struct StoreSum: Equatable, Sendable {
    /// 256 bits, least significant word first.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private(set) var count: Int64 = 0

    static func == (left: StoreSum, right: StoreSum) -> Bool { left.words == right.words && left.count == right.count }

    mutating func add(_ hash: RowHash) {
        change(by: hash.words)
        count &+= 1
    }

    mutating func subtract(_ hash: RowHash) {
        // Adds the two's complement.
        let words = hash.words
        change(by: (~words.0, ~words.1, ~words.2, ~words.3))
        change(by: (1, 0, 0, 0))
        count &-= 1
    }

    private mutating func change(by other: (UInt64, UInt64, UInt64, UInt64)) {
        var carry = false
        func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
            let (first, isBeyond) = left.addingReportingOverflow(right)
            let (second, isBeyondToo) = first.addingReportingOverflow(carry ? 1 : 0)
            carry = isBeyond || isBeyondToo
            return second
        }
        words.0 = sum(words.0, other.0)
        words.1 = sum(words.1, other.1)
        words.2 = sum(words.2, other.2)
        words.3 = sum(words.3, other.3)
    }

    /// The encoding, 40 bytes: the sum, then the count, both big-endian.
    var bytes: [UInt8] { [words.3, words.2, words.1, words.0, UInt64(bitPattern: count)].flatMap(bigEndian) }

    init() {}

    /// Decodes the output of `bytes`; nil unless it is 40 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 40 else { return nil }
        let numbers = stride(from: 0, to: 40, by: 8).map { bigEndianNumber(bytes[$0..<$0 + 8]) }
        words = (numbers[3], numbers[2], numbers[1], numbers[0])
        count = Int64(bitPattern: numbers[4])
    }
}

/// The keyed hash of one row: HMAC-SHA-256 of class, id, version and the random part of the version.
struct RowHash: Sendable {
    fileprivate let words: (UInt64, UInt64, UInt64, UInt64)

    init(_ mark: RowMark, _ key: AuthenticationKey) throws(Failure) {
        let code = try key.code(
            [mark.itemClass] + mark.id + bigEndian(UInt64(bitPattern: mark.version)) + mark.versionRandom)
        words = (
            bigEndianNumber(code[24..<32]), bigEndianNumber(code[16..<24]), bigEndianNumber(code[8..<16]),
            bigEndianNumber(code[0..<8])
        )
    }
}

private func bigEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
}

private func bigEndianNumber(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

extension Keychain {
    /// Returns the domain state hash of an enrolment set for an app: 32 opaque bytes that differ for every app, user
    /// and set (DS-02, DS-03).
    ///
    /// The generation is part of it, so that a set that was left and is the current one again has another hash. Without it
    /// another finger under the name of a deleted one would be taken for that, where only the names are known.
    package func biometryHash(of set: EnrolmentSet, for application: String) throws(Failure) -> [UInt8] {
        let key = try tree.recordKey.derive(.domain, context: Array("biometry".utf8))
        return try key.authenticationCode(
            Array(application.utf8) + [0] + bigEndian(anchor.enrolmentGeneration) + set.bytes)
    }
}
