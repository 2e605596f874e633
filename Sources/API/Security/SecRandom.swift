// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto

/// Source of random bytes; the only instance is `kSecRandomDefault`. Apple: `SecRandomRef`.
public typealias SecRandomRef = OpaquePointer

// swift-format-ignore: NeverForceUnwrap
/// The default source of random bytes, equivalent to nil. The pointer must not be dereferenced.
/// Apple: `kSecRandomDefault`.
nonisolated(unsafe) public let kSecRandomDefault: SecRandomRef = OpaquePointer(bitPattern: 1)!
// The force unwrap is safe: a pointer made from a nonzero number is not nil. It is never dereferenced.

/// Fills memory with cryptographically secure random bytes.
///
/// - Parameters:
///   - rnd: nil or `kSecRandomDefault`.
///   - count: the number of bytes, from 0 to 2147483647.
///   - bytes: receives `count` bytes; unchanged on failure.
/// - Returns: `errSecSuccess`; `errSecParam` for another `rnd` or a `count` out of range; `errSecAllocate` when the
///   system's random generator failed.
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecRandomCopyBytes(_:_:_:)`.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0, count <= Int(Int32.max), rnd == nil || rnd == kSecRandomDefault else { return errSecParam }
    guard count > 0 else { return errSecSuccess }
    guard let random = try? randomSecret(count) else { return errSecAllocate }
    random.withBytes { UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(from: $0) }
    return errSecSuccess
}
