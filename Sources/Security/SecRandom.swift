// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto

/// A source of random bytes; there is only the default one. Apple: `SecRandomRef`.
public typealias SecRandomRef = OpaquePointer

// swift-format-ignore: NeverForceUnwrap
/// The default source. Apple: `kSecRandomDefault`.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef = OpaquePointer(bitPattern: 1)!
// Never read through and never changed: a number that is not zero is a pointer.

/// Fills memory with random bytes fit for keys. Apple: `SecRandomCopyBytes`.
///
/// - Parameters:
///   - rnd: nil or `kSecRandomDefault`.
///   - count: number of bytes; a negative number is refused.
///   - bytes: room for `count` bytes; untouched on failure.
/// - Returns: `errSecSuccess`, `errSecParam`, or `errSecAllocate` when the system gave no bytes.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0, count <= Int(Int32.max), rnd == nil || rnd == kSecRandomDefault else { return errSecParam }
    guard count > 0 else { return errSecSuccess }
    guard let random = try? randomSecret(count) else { return errSecAllocate }
    random.withBytes { UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(from: $0) }
    return errSecSuccess
}
