// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

/// Private keys of P-256 that never leave the Secure Enclave, in the shape of CryptoKit's type of the same name.
///
/// A key is kept by the app, as `dataRepresentation`: sealed bytes that work on this machine, for this user and this app
/// only. To keep a key in the keychain instead, use `SecKeyCreateRandomKey` with `kSecAttrTokenIDSecureEnclave`.
///
/// Apple: `CryptoKit.SecureEnclave`. Public keys and signatures are types of their own here, since there is no CryptoKit:
/// their `x963Representation`, `rawRepresentation` and `derRepresentation` are those of its types.
public enum SecureEnclave {
    /// Whether there is a Secure Enclave: a TPM, or one made of software where that was chosen. Asks the daemon.
    public static var isAvailable: Bool { SecKey.hasEnclave }

    /// Keys of NIST P-256.
    public enum P256 {
        /// Signatures.
        public enum Signing {}
        /// Secrets that two keys agree on.
        public enum KeyAgreement {}
    }
}

/// The rule of keys that are made without one: usable while the device is unlocked, on this device only.
///
/// - Throws: an error of `NSOSStatusErrorDomain` when the rule cannot be made.
func defaultAccessControl() throws -> SecAccessControl {
    var error: Unmanaged<CFError>?
    let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .privateKeyUsage, &error)
    guard let control else { throw thrown(error) }
    return control
}

/// The error that a call left behind.
func thrown(_ error: Unmanaged<CFError>?) -> any Error {
    error?.takeRetainedValue() ?? NSError(domain: NSOSStatusErrorDomain, code: Int(errSecParam))
}

/// A private key in the Secure Enclave that is not in the keychain.
struct EnclaveKey: Sendable {
    let key: SecKey
    let data: Data

    /// Makes a new one.
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

    /// Takes one up again.
    init(_ data: Data, _ context: LAContext?) throws {
        key = try SecKey.detached(data, context: context)
        self.data = data
    }

    /// X9.63, 65 bytes.
    func point() throws -> Data {
        var error: Unmanaged<CFError>?
        guard let half = SecKeyCopyPublicKey(key), let bytes = SecKeyCopyExternalRepresentation(half, &error) else {
            throw thrown(error)
        }
        return bytes as Data
    }
}
