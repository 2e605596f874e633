// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyModel

/// The error parameter of the API's functions; the caller releases the error.
typealias ErrorPointer = UnsafeMutablePointer<Unmanaged<CFError>?>?

extension CFError {
    /// An error of `NSOSStatusErrorDomain` (behaviour SK-01), unless another domain is given.
    ///
    /// - Parameters:
    ///   - status: the error's code.
    ///   - words: a sentence that says what happened.
    ///   - hint: a sentence that says what to do about it; may be empty.
    ///   - domain: the error's domain.
    static func status(
        _ status: OSStatus, _ words: String, hint: String = "", domain: String = NSOSStatusErrorDomain
    ) -> CFError {
        // Most apps show or log only the description, so the hint is part of it.
        let sentence = hint.isEmpty ? words : "\(words) \(hint)"
        var details: [String: Any] = [NSLocalizedDescriptionKey: sentence]
        if !hint.isEmpty { details[NSLocalizedRecoverySuggestionErrorKey] = hint }
        return PrintedError(domain: domain, code: Int(status), userInfo: details)
    }
}

/// An error whose `description` contains its message: Foundation on Linux prints "(null)" instead.
private final class PrintedError: NSError, @unchecked Sendable {
    // Adds no state to NSError, which is immutable.
    override var description: String { "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\"" }
}

extension Failure {
    var cfError: CFError { .status(status.osStatus, "\(message)", hint: "\(hint)") }

    /// The error of an operation with a key: of `com.apple.LocalAuthentication` when authentication for a Secure
    /// Enclave key failed, else `cfError`.
    func cfError(of key: SecKey) -> CFError {
        guard key.backing is EnclaveKeyBacking, let code = status.authenticationCode else { return cfError }
        return .status(OSStatus(code), "\(message)", hint: "\(hint)", domain: "com.apple.LocalAuthentication")
    }
}

/// Runs the body of an API function. On failure, records the failure for `SecCopyErrorMessageString`, sets the error
/// unless `error` is nil, and returns nil. On success, leaves the error unchanged.
func reporting<R>(to error: ErrorPointer, of key: SecKey? = nil, _ body: () throws(Failure) -> R) -> R? {
    do throws(Failure) {
        return try body()
    } catch let failure {
        LastFailure.record(failure)
        error?.pointee = Unmanaged.passRetained(key.map(failure.cfError(of:)) ?? failure.cfError)
        return nil
    }
}

/// Runs the body of an API function and returns its status. Records a failure for `SecCopyErrorMessageString`.
func status(_ body: () throws(Failure) -> Void) -> OSStatus {
    do throws(Failure) {
        try body()
        return errSecSuccess
    } catch {
        LastFailure.record(error)
        return error.status.osStatus
    }
}

// Apps read results with `as? Data`, which on Linux copies an NSData byte by byte (swift-corelibs-foundation of
// Swift 6.3): 17 µs for 256 bytes, 60 ms for 1 MiB. With this conformance Data copies all bytes at once. It applies to
// the whole process and is listed in docs/reference/compatibility.md. Remove it when NSData conforms to ContiguousBytes
// upstream.

// swift-format-ignore: AvoidRetroactiveConformances
extension NSData: @retroactive ContiguousBytes {
    /// Calls a closure with the bytes of the data, without a copy.
    ///
    /// - Parameter body: receives the bytes; the pointer is valid only until the closure returns.
    /// - Returns: the closure's result.
    /// - Throws: the closure's error.
    ///
    /// Apple: `ContiguousBytes.withUnsafeBytes(_:)`.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(start: bytes, count: length)) }
    }
}
