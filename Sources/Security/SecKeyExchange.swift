// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyKeys
import LatchkeyModel

/// What is said about an agreement. Apple: `SecKeyKeyExchangeParameter`.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    private let name: String

    /// The name.
    public var rawValue: CFString { name as NSString }

    /// Takes any name.
    public init(rawValue: CFString) { name = rawValue as String }

    /// Bytes to derive: a number. Apple: `kSecKeyKeyExchangeParameterRequestedSize`.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// What both sides know besides, Data. Apple: `kSecKeyKeyExchangeParameterSharedInfo`.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")

    /// Reads one; nil when it is not there.
    fileprivate func value(in dictionary: NSDictionary) -> Any? {
        // The structure as a key stays one here, where Apple's bridges to the string.
        dictionary[rawValue]
            ?? zip(dictionary.allKeys, dictionary.allValues).first { key, _ in
                key as? SecKeyKeyExchangeParameter == self
            }?.1
    }
}

/// Agrees on a secret. Apple: `SecKeyCopyKeyExchangeResult`.
///
/// - Parameters:
///   - privateKey: a private key of a curve.
///   - algorithm: one of the `ecdhKeyExchange...` algorithms. Standard and cofactor give the same: the cofactor is 1.
///   - publicKey: the other side's public key, of the same curve.
///   - parameters: for the algorithms with X9.63, `requestedSize` (1 byte to 1 MiB) and, if wanted, `sharedInfo`. For the
///     bare ones nothing is read.
///   - error: set to an error with code -50 when a key or a parameter does not fit.
/// - Returns: the X coordinate, as wide as the curve, or the bytes that are derived from it; or nil.
///
/// Blocks, and may prompt for a key with access control.
@discardableResult
public func SecKeyCopyKeyExchangeResult(
    _ privateKey: SecKey, _ algorithm: SecKeyAlgorithm, _ publicKey: SecKey, _ parameters: CFDictionary,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, of: privateKey) { () throws(Failure) in
        guard case .agreement(let digest) = try privateKey.scheme(algorithm, for: .keyExchange) else {
            throw Failure(.invalidParameter, "The algorithm agrees on nothing.")
        }
        let peer = publicKey.backing
        guard !peer.isPrivate, peer.publicKey.type == privateKey.backing.publicKey.type else {
            throw Failure(.invalidParameter, "The other key is not a public key of the same curve.")
        }
        guard let digest else {
            return try privateKey.backing.agree(with: peer.publicKey).withBytes { Data($0) } as NSData
        }
        // What is wrong with the parameters is said before anyone is asked for a finger.
        let byteCount = try requestedSize(parameters)
        let sharedInfo = try sharedInfo(parameters)
        let secret = try privateKey.backing.agree(with: peer.publicKey)
        return try digest.derive(secret, sharedInfo: sharedInfo, byteCount: byteCount).withBytes { Data($0) } as NSData
    }
}

/// Behaviour SK-06.
private func requestedSize(_ parameters: NSDictionary) throws(Failure) -> Int {
    guard let number = SecKeyKeyExchangeParameter.requestedSize.value(in: parameters) as? NSNumber,
        !isBoolean(number), let size = Int(exactly: number.doubleValue), (1...1 << 20).contains(size)
    else { throw Failure(.invalidParameter, "requestedSize has to be a number of bytes from 1 to 1048576.") }
    return size
}

private func sharedInfo(_ parameters: NSDictionary) throws(Failure) -> [UInt8] {
    guard let value = SecKeyKeyExchangeParameter.sharedInfo.value(in: parameters) else { return [] }
    guard let data = value as? NSData else { throw Failure(.invalidParameter, "sharedInfo has to be Data.") }
    return data.withUnsafeBytes { Array($0) }
}
