// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// A keychain's refusal.
public struct StrongboxError: Error, Equatable, CustomStringConvertible {
    /// The code.
    public let status: OSStatus

    /// The refusal with that code.
    public init(status: OSStatus) { self.status = status }

    /// The code and what it means.
    public var description: String {
        let words = SecCopyErrorMessageString(status, nil) as String? ?? "unknown"
        return "\(words) (\(status))"
    }

    /// The same for code that works with `NSError`.
    public var asNSError: NSError {
        NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
    }
}
