// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the input of `latchkey import`: a recovery code, a header, then arbitrary prefixes and records.
// The decrypted records are frames, which the target frame covers. `scripts/fuzz 60 backup` runs it.

import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel

/// Reads one input and describes how it violates the property; nil when it does not.
func complaint(aboutBackup bytes: [UInt8]) -> String? {
    _ = RecoveryCode(typed: SecretBytes(bytes))
    guard let header = try? BackupHeader(Array(bytes.prefix(BackupHeader.byteCount))), var reader = Fuzz.reader(header)
    else { return nil }
    var rest = bytes.dropFirst(BackupHeader.byteCount)
    while !rest.isEmpty {
        let prefix = Array(rest.prefix(BackupReader.prefixBytes))
        guard let length = try? reader.length(prefix) else { return nil }
        let sealed = Array(rest.dropFirst(BackupReader.prefixBytes).prefix(length))
        guard (try? reader.item(prefix, sealed)) != nil else { return nil }
        rest = rest.dropFirst(BackupReader.prefixBytes + length)
    }
    return nil
}

enum Fuzz {
    // Key stretching takes 100 ms, so all inputs share one key.
    nonisolated(unsafe) private static var known: BackupReader?

    static func reader(_ header: BackupHeader) -> BackupReader? {
        if known == nil, let code = try? RecoveryCode.make() { known = try? BackupReader(header, code) }
        return known
    }
}
