// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

/// P-256 private keys that never leave the Secure Enclave, with the API of CryptoKit's `SecureEnclave`.
///
/// The app stores a key itself, as its `dataRepresentation`: encrypted bytes that work on this machine, for this user
/// and this app only. To store a key in the keychain instead, use `SecKeyCreateRandomKey` with
/// `kSecAttrTokenIDSecureEnclave`.
///
/// Apple: `CryptoKit.SecureEnclave`.
///
/// > Note: Linux: CryptoKit does not exist here, so public keys, signatures and shared secrets are types of this
/// > module. Their `x963Representation` and `rawRepresentation` have the same formats as in CryptoKit.
public enum SecureEnclave {
    /// Whether the app can use a Secure Enclave: keys of the TPM in tier `tpm`, else a software implementation, which the
    /// daemon's configuration has to enable.
    ///
    /// Blocks for one request to the daemon; does not prompt. Also false when the daemon cannot be reached.
    /// Apple: `SecureEnclave.isAvailable`.
    public static var isAvailable: Bool { SecKey.hasEnclave }

    /// Keys on the curve NIST P-256. Apple: `SecureEnclave.P256`.
    public enum P256 {
        /// Keys for ECDSA signatures. Apple: `SecureEnclave.P256.Signing`.
        public enum Signing: Sendable {}
        /// Keys for ECDH key agreement. Apple: `SecureEnclave.P256.KeyAgreement`.
        public enum KeyAgreement: Sendable {}
    }
}

/// The access control of keys created without one: usable while the device is unlocked, on this device only.
///
/// - Throws: an error of `NSOSStatusErrorDomain` when it cannot be created.
func defaultAccessControl() throws -> SecAccessControl {
    var error: Unmanaged<CFError>?
    let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .privateKeyUsage, &error)
    guard let control else { throw thrown(error) }
    return control
}

/// The error that a `SecKey` function set; an error with code `errSecParam` when it set none.
func thrown(_ error: Unmanaged<CFError>?) -> any Error {
    error?.takeRetainedValue() ?? NSError(domain: NSOSStatusErrorDomain, code: Int(errSecParam))
}

/// A private key of the Secure Enclave that is not stored in the keychain.
struct EnclaveKey: Sendable {
    let key: SecKey
    let data: Data

    init(_ control: SecAccessControl?, _ context: LAContext?) throws {
        var half: [CFString: Any] = [
            kSecAttrIsPermanent: false, kSecAttrAccessControl: try control ?? defaultAccessControl(),
        ]
        if let context { half[kSecUseAuthenticationContext] = context }
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: half,
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error), let data = key.detachedData else {
            throw thrown(error)
        }
        self.key = key
        self.data = data
    }

    /// Restores a key from its encrypted form.
    init(_ data: Data, _ context: LAContext?) throws {
        key = try SecKey.detached(data, context: context)
        self.data = data
    }

    /// The public key in X9.63 representation, 65 bytes.
    func point() throws -> Data {
        var error: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key), let bytes = SecKeyCopyExternalRepresentation(half, &error) else {
            throw thrown(error)
        }
        return bytes as Data
    }
}
