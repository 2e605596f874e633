// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Where a function of the API leaves its error; the caller releases it.
typealias ErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>?

extension CFError {
    /// An error of `NSOSStatusErrorDomain` (behaviour SK-01), or of another.
    static func status(
        _ status: OSStatus, _ words: String, hint: String = "", domain: String = NSOSStatusErrorDomain
    ) -> CFError {
        // Apps show or log this one sentence: what to do belongs to it.
        let sentence = hint.isEmpty ? words : "\(words) \(hint)"
        var details: [String: Any] = [NSLocalizedDescriptionKey: sentence]
        if !hint.isEmpty { details[NSLocalizedRecoverySuggestionErrorKey] = hint }
        return PrintedError(domain: domain, code: Int(status), userInfo: details)
    }
}

/// An error that prints its sentence: Foundation on Linux prints "(null)" in its place.
private final class PrintedError: NSError, @unchecked Sendable {
    // It adds no state to NSError, which does not change.
    override var description: String { "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\"" }
}

extension Failure {
    /// The error that an app gets.
    var cfError: CFError { .status(status.osStatus, message, hint: hint) }

    /// The same for an operation of a key, which may be one in a token.
    func cfError(of key: SecKey) -> CFError {
        guard key.backing is EnclaveKeyBacking, let code = status.authenticationCode else { return cfError }
        return .status(OSStatus(code), message, hint: hint, domain: "com.apple.LocalAuthentication")
    }
}

/// Runs a call; on failure nil, and the error where the caller wants it. Nothing is written on success.
func reporting<R>(to error: ErrorPointer, of key: SecKey? = nil, _ body: () throws(Failure) -> R) -> R? {
    do throws(Failure) {
        return try body()
    } catch let failure {
        LastFailure.keep(failure)
        error?.pointee = Unmanaged.passRetained(key.map(failure.cfError(of:)) ?? failure.cfError)
        return nil
    }
}

/// Runs a call that gives a code; the words are kept for `SecCopyErrorMessageString`.
func status(_ body: () throws(Failure) -> Void) -> OSStatus {
    do throws(Failure) {
        try body()
        return errSecSuccess
    } catch {
        LastFailure.keep(error)
        return error.status.osStatus
    }
}
