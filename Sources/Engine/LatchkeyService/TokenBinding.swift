// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel

/// What a token is bound to besides the caller's user: the rule, the subject, the app and its session.
enum TokenBinding {
    /// Returns HMAC-SHA-256 of the fields under the challenge of the request, 32 bytes. The count of every field
    /// precedes it, so that no two requests have the same input.
    static func digest(
        _ plan: AuthenticationPlan, _ caller: Caller, subject: [UInt8], challenge: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard let key = SymmetricKey(SecretBytes(challenge)) else {
            throw Failure(.internalFailure, "A challenge has the wrong length.")
        }
        var message = CryptographicLabel.binding.bytes + [0]
        func append(_ field: [UInt8]) {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.count).bigEndian) { message.append(contentsOf: $0) }
            message += field
        }
        append(plan.stages.map { stage in stage.reduce(0 as UInt8) { $0 | 1 << $1.rawValue } })
        append(subject)
        append(Array(caller.application.utf8))
        append(withUnsafeBytes(of: caller.session.bigEndian) { Array($0) })
        return try key.authenticationCode(message)
    }
}
