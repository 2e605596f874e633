// SPDX-License-Identifier: Apache-2.0

internal import CQuickNoteCrypto
import Foundation
import Security

/// The 32 bytes that every note is sealed with; wiped when the last holder lets go.
final class NoteKey: Sendable {
    static let byteCount = 32
    // Written before anyone else has the object, and in `deinit`, when nobody has it any more.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

    /// A new random key.
    init() throws(QuickNoteError) {
        bytes = .allocate(byteCount: Self.byteCount, alignment: 16)
        guard let start = bytes.baseAddress,
            SecRandomCopyBytes(kSecRandomDefault, Self.byteCount, start) == errSecSuccess
        else { throw .internalFault("The system gave no random bytes.") }
    }

    /// Takes a key out of the keychain.
    init(_ data: Data) throws(QuickNoteError) {
        guard data.count == Self.byteCount else { throw .internalFault("The key in the keychain is damaged.") }
        bytes = .allocate(byteCount: Self.byteCount, alignment: 16)
        _ = data.copyBytes(to: bytes)
    }

    deinit {
        // Not memset, which a compiler may leave out when nobody reads the bytes again.
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    /// A copy for the keychain.
    var data: Data { Data(bytes) }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { body(UnsafeRawBufferPointer(bytes)) }
}
