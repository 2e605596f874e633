// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// A dictionary key of the parameters of `SecKeyCopyKeyExchangeResult`.
///
/// > Note: Linux: the structure does not bridge to a string; both the structure and its `rawValue` are accepted as
/// keys.
///
/// Apple: `SecKeyKeyExchangeParameter`.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    private let name: String

    /// The parameter's name as a dictionary key. Apple: `SecKeyKeyExchangeParameter.rawValue`.
    public var rawValue: CFString { name as NSString }

    /// Creates a parameter from its name.
    ///
    /// - Parameter rawValue: any string; parameters with unknown names are ignored.
    ///
    /// Apple: `SecKeyKeyExchangeParameter.init(rawValue:)`.
    public init(rawValue: CFString) { name = rawValue as String }

    /// Number of bytes to derive: a number from 1 to 1048576. Apple: `kSecKeyKeyExchangeParameterRequestedSize`.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// Input of the key derivation that both sides know: `Data`, empty by default.
    /// Apple: `kSecKeyKeyExchangeParameterSharedInfo`.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")

    /// The parameter's value in a dictionary; nil when it is absent.
    fileprivate func value(in dictionary: NSDictionary) -> Any? {
        // A structure used as a key remains a structure here, while Apple's bridges to the string.
        dictionary[rawValue]
            ?? zip(dictionary.allKeys, dictionary.allValues).first { key, _ in
                key as? SecKeyKeyExchangeParameter == self
            }?.1
    }
}

/// Derives a secret shared with the owner of another key, by elliptic curve Diffie-Hellman.
///
/// - Parameters:
///   - privateKey: an elliptic curve private key.
///   - algorithm: one of the `ecdhKeyExchange...` algorithms. Standard and cofactor variants give the same result,
///     since the curves have cofactor 1.
///   - publicKey: the other party's public key, on the same curve.
///   - parameters: for the `...X963...` algorithms, `requestedSize` (required, 1 to 1048576 bytes) and `sharedInfo`
///     (optional `Data`). The other algorithms ignore it.
///   - error: set to a retained error on failure; unchanged otherwise. May be nil. Code `errSecParam` (-50) of
///     `NSOSStatusErrorDomain`: a key does not support the algorithm, the curves differ, or a parameter is missing or
///     wrong. For a key of the Secure Enclave, failed authentication is reported with a code of
///     `com.apple.LocalAuthentication`, and a daemon that cannot be reached with `errSecNotAvailable`.
/// - Returns: the secret, or nil on failure: `requestedSize` bytes derived with the X9.63 key derivation function (SEC
///   1, section 3.6.1), or for the other algorithms the X coordinate of the shared point, big-endian and as long as a
///   coordinate of the curve.
///
/// With a key in memory, computes in this process and never prompts. With a key of the Secure Enclave, blocks while the
/// daemon answers, and prompts when the key's access control requires it.
///
/// Apple: `SecKeyCopyKeyExchangeResult(_:_:_:_:_:)`.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, of: privateKey) { () throws(Failure) in
        guard case .agreement(let digest) = try privateKey.scheme(algorithm, for: .keyExchange) else {
            throw Failure(.invalidParameter, "The algorithm is not a key exchange algorithm.")
        }
        let peer = publicKey.backing
        guard !peer.isPrivate, peer.publicKey.type == privateKey.backing.publicKey.type else {
            throw Failure(.invalidParameter, "The other key is not a public key of the same curve.")
        }
        guard let digest else {
            return try privateKey.backing.agree(with: peer.publicKey).withBytes { Data($0) } as NSData
        }
        // Checks the parameters before the key is used, so that the user is not prompted for a call that must fail.
        let byteCount = try requestedSize(parameters)
        let sharedInfo = try sharedInfo(parameters)
        let secret = try privateKey.backing.agree(with: peer.publicKey)
        return try digest.derive(secret, sharedInfo: sharedInfo, byteCount: byteCount).withBytes { Data($0) } as NSData
    }
}

/// The value of `requestedSize`, which is required (behaviour SK-06).
private func requestedSize(_ parameters: NSDictionary) throws(Failure) -> Int {
    guard let number = SecKeyKeyExchangeParameter.requestedSize.value(in: parameters) as? NSNumber,
        !isBoolean(number), let size = Int(exactly: number.doubleValue), (1...1 << 20).contains(size)
    else { throw Failure(.invalidParameter, "requestedSize must be a number of bytes from 1 to 1048576.") }
    return size
}

private func sharedInfo(_ parameters: NSDictionary) throws(Failure) -> [UInt8] {
    guard let value = SecKeyKeyExchangeParameter.sharedInfo.value(in: parameters) else { return [] }
    guard let data = value as? NSData else { throw Failure(.invalidParameter, "sharedInfo must be Data.") }
    return data.withUnsafeBytes { Array($0) }
}
