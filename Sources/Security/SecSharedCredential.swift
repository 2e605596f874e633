// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto

// Without the characters that people take for one another.
private let passwordCharacters = ["abcdefghkmnopqrstuvwxy", "ABCDEFGHJKLMNPQRSTUVWXYZ", "3456789"].map {
    Array($0.utf8)
}
private let passwordAlphabet = passwordCharacters.flatMap { $0 }

/// Makes a random password. Apple: `SecCreateSharedWebCredentialPassword`.
///
/// - Returns: four groups of three letters and digits, joined by hyphens; a small letter, a capital and a digit are among
///   them. Every such password is as likely as any other: some 68 bits. nil when the system gave no random bytes. Never
///   prompts and asks no daemon.
@discardableResult
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    // Bytes from here on would make the first characters likelier than the last ones.
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
