// SPDX-License-Identifier: Apache-2.0

/// The error of reading or writing a public key.
///
/// Two errors are equal when their codes are equal. The message is for display and may change between releases.
public struct KeyFormatError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The cause of an error, for programs to compare.
    public enum Code: Equatable, Sendable {
        /// The input does not have the encoding that is documented for the function, or has trailing data.
        case malformed
        /// The PEM label is not `PUBLIC KEY`.
        case wrongLabel
        /// The key type or the curve is not supported.
        case unsupported
        /// The encoding is valid but the key is not: the point is not on its curve, or the RSA key is not accepted
        /// (see ``PortablePublicKey``).
        case invalidKey
        /// The JSON Web Key contains members of a private or symmetric key.
        case privateKey
        /// The comment of an OpenSSH line is not one line of text.
        case invalidComment
        /// A computation of libcrypto failed, for example because memory allocation failed.
        case internalFailure
    }

    /// The cause of this error.
    public let code: Code
    /// A description of the cause, one sentence in English. Contains no part of the input.
    public let message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The same text as ``message``.
    public var description: String { message }

    /// Compares the codes of two errors and ignores their messages.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: true when both have the same ``code``.
    public static func == (left: KeyFormatError, right: KeyFormatError) -> Bool { left.code == right.code }
}
