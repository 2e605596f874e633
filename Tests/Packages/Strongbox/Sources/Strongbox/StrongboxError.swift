// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// An error of the keychain.
public struct StrongboxError: Error, Equatable, CustomStringConvertible {
    /// The code.
    public let status: OSStatus

    /// The error with this code.
    public init(status: OSStatus) { self.status = status }

    /// The code and what it means.
    public var description: String {
        let words = SecCopyErrorMessageString(status, nil) as String? ?? "unknown"
        return "\(words) (\(status))"
    }

    /// The same, as an `NSError`.
    public var asNSError: NSError {
        NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
    }
}
