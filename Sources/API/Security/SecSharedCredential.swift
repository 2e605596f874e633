// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto

// Small letters, capitals and digits, without characters that are easily confused.
private let passwordCharacters = ["abcdefghkmnopqrstuvwxy", "ABCDEFGHJKLMNPQRSTUVWXYZ", "3456789"].map {
    Array($0.utf8)
}
private let passwordAlphabet = passwordCharacters.flatMap { $0 }

/// Generates a random password that is easy to read and type.
///
/// - Returns: four groups of three letters and digits, joined by hyphens; nil when the system's random generator
///   failed. A password has at least one small letter, one capital and one digit, and none of the characters that are
///   easily confused. All such passwords are equally likely: about 68 bits of entropy.
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecCreateSharedWebCredentialPassword()`.
@discardableResult
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    // Bytes of this value and above are rejected, so that every character is equally likely.
    let limit = 256 / passwordAlphabet.count * passwordAlphabet.count
    while true {
        guard let random = try? randomSecret(64) else { return nil }
        let drawn: [UInt8] = random.withBytes { bytes in
            bytes.filter { $0 < limit }.prefix(12).map { passwordAlphabet[Int($0) % passwordAlphabet.count] }
        }
        guard drawn.count == 12, passwordCharacters.allSatisfy({ $0.contains(where: drawn.contains) }) else { continue }
        let groups = stride(from: 0, to: 12, by: 3).map { drawn[$0..<($0 + 3)] }
        return String(decoding: Array(groups.joined(separator: [UInt8(ascii: "-")])), as: UTF8.self) as NSString
    }
}
