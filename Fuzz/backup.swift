// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the input of `latchkey import`: a recovery code, a header, then arbitrary prefixes and records.
// The decrypted records are frames, which the target frame covers. `scripts/fuzz 60 backup` runs it.
//

import LatchkeyCrypto
import LatchkeyKeychain
import LatchkeyModel

/// The entry point of libFuzzer, called with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    _ = RecoveryCode(typed: SecretBytes(bytes))
    guard let header = try? BackupHeader(Array(bytes.prefix(BackupHeader.byteCount))), var reader = Fuzz.reader(header)
    else { return 0 }
    var rest = bytes.dropFirst(BackupHeader.byteCount)
    while !rest.isEmpty {
        let prefix = Array(rest.prefix(BackupReader.prefixBytes))
        guard let length = try? reader.length(prefix) else { return 0 }
        let sealed = Array(rest.dropFirst(BackupReader.prefixBytes).prefix(length))
        guard (try? reader.item(prefix, sealed)) != nil else { return 0 }
        rest = rest.dropFirst(BackupReader.prefixBytes + length)
    }
    return 0
}

enum Fuzz {
    // Key stretching takes 100 ms, so all inputs share one key.
    nonisolated(unsafe) private static var known: BackupReader?

    static func reader(_ header: BackupHeader) -> BackupReader? {
        if known == nil, let code = try? RecoveryCode.make() { known = try? BackupReader(header, code) }
        return known
    }
}
