// SPDX-License-Identifier: Apache-2.0

/// Why bytes or text are no public key, or a public key has no such form.
///
/// Two errors are equal when their codes are; the sentence is for people and may change.
public struct KeyFormatError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: Equatable, Sendable {
        /// The bytes or the text are not in the one form that is accepted, or something follows them.
        case malformed
        /// The PEM text holds something else than `PUBLIC KEY`.
        case wrongLabel
        /// A key, but of a type, a curve or a size that is not accepted.
        case unsupported
        /// In form, but no key: the point is not on the curve, or the numbers are those of no RSA key.
        case invalidKey
        /// A private key, which does not belong where public keys are read.
        case privateKey
        /// The comment of an OpenSSH line cannot stand on one line.
        case invalidComment
        /// libcrypto could not compute.
        case internalFailure
    }

    /// What is wrong.
    public let code: Code
    /// What is wrong, in words. Holds nothing of the input.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The words.
    public var description: String { message }

    /// Whether both have the same code.
    public static func == (left: KeyFormatError, right: KeyFormatError) -> Bool { left.code == right.code }
}
