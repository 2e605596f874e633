// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Reads files of keys and certificates protected by a passphrase (RFC 7292).
package enum PKCS12 {
    /// Maximum number of key derivation iterations of one file, summed over all its parts; a few seconds of work.
    ///
    /// A part that uses scrypt counts as the product of its three parameters. Files of browsers and of `openssl` use
    /// 2,048 to 600,000 iterations for each part.
    package static let iterations: UInt64 = 4_000_000
    /// Maximum number of bags (keys, certificates and others) in one file.
    package static let bags = 512
    /// Maximum depth of nested bags.
    static let nesting = 4
    /// Maximum number of certificates in one chain.
    static let chainLength = 16

    /// A private key and the certificate of its public key.
    package struct Identity: Sendable {
        /// The `friendlyName` of the key, or else of the certificate.
        package let friendlyName: String?
        /// The `localKeyID` of the key, or else of the certificate; it links a key to its certificate.
        package let localKeyIdentifier: [UInt8]?
        /// `PrivateKeyInfo` (PKCS#8), in DER.
        package let privateKey: SecretBytes
        /// The certificate of the private key.
        package let certificate: Certificate
        /// The certificate, its issuer's, and so on, as far as the file contains them. Issuers are found by name and
        /// key identifier; no signature is verified.
        package let chain: [Certificate]
    }

    /// The reason why a file was not opened.
    package enum Refusal: Error, Equatable, Sendable {
        /// The data is malformed, or is not a PKCS#12 file protected by a passphrase.
        case undecodable
        /// The MAC does not match: the passphrase is wrong, or the file was changed.
        case wrongPassphrase
        /// The file uses an algorithm that this system's libcrypto does not support.
        case unsupported
        /// The file requires more than `iterations` or contains more than `bags`.
        case tooMuchWork
        /// A libcrypto call failed unexpectedly, for example because memory allocation failed.
        case failed
    }

    /// Decrypts a file and returns its identities. Blocks during key derivation, up to seconds.
    ///
    /// - Parameters:
    ///   - data: the file; `undecodable` when it is longer than `Limits.secretBytes`.
    ///   - passphrase: UTF-8. An empty passphrase also opens files made without a passphrase. nil opens no file: the
    ///     result is `undecodable` for data that is not a PKCS#12 file, otherwise `wrongPassphrase` or `unsupported`.
    ///   - iterations: maximum number of key derivation iterations.
    ///   - publicKeyHash: computes the `Certificate.publicKeyHash` of a private key given in PKCS#8. It returns nil
    ///     for a key of an unsupported type, which is then matched to a certificate by `localKeyID` alone. The caller
    ///     provides this, because libcrypto's own PKCS#8 reader leaves copies of keys in freed memory.
    /// - Returns: the identities in the order of their keys, without keys that have no certificate and certificates
    ///   that have no key.
    package static func open(
        _ data: [UInt8], passphrase: SecretBytes?, iterations: UInt64 = iterations,
        publicKeyHash: (SecretBytes) -> [UInt8]?
    ) -> Result<[Identity], Refusal> {
        Result { () throws(Refusal) in
            let file = try PKCS12File(data, iterations: iterations)
            try file.authenticate(passphrase)
            return identities(in: try file.bags(), publicKeyHash)
        }
    }

    #if DEBUG || FUZZER
    /// Reads a file like `open` but ignores its MAC, since a fuzzer could never produce a matching one. Not part of
    /// release builds.
    package static func testOnlyOpenUnauthenticated(
        _ data: [UInt8], passphrase: SecretBytes, iterations: UInt64, publicKeyHash: (SecretBytes) -> [UInt8]?
    ) -> Result<[Identity], Refusal> {
        Result { () throws(Refusal) in
            let file = try PKCS12File(data, iterations: iterations)
            file.testOnlySkipAuthentication(passphrase)
            return identities(in: try file.bags(), publicKeyHash)
        }
    }
    #endif

    // MARK: - Identities and chains

    private static func identities(
        in bags: [PKCS12Bag], _ publicKeyHash: (SecretBytes) -> [UInt8]?
    ) -> [Identity] {
        var keys: [(secret: SecretBytes, bag: PKCS12Bag)] = []
        var certificates: [(certificate: Certificate, bag: PKCS12Bag)] = []
        for bag in bags {
            switch bag.contents {
            case .privateKey(let secret): keys.append((secret, bag))
            case .certificate(let certificate): certificates.append((certificate, bag))
            }
        }
        let issuers = Dictionary(grouping: certificates.map(\.certificate), by: \.normalizedSubject)
        return keys.compactMap { key in
            let identifier = key.bag.localKeyIdentifier
            let hash = publicKeyHash(key.secret)
            let candidates = certificates.filter { hash == nil || $0.certificate.publicKeyHash == hash }
            // A renewed certificate may share its key with an older one; `localKeyID` selects the intended certificate.
            let named = identifier == nil ? nil : candidates.first { $0.bag.localKeyIdentifier == identifier }
            guard let own = named ?? (hash == nil ? nil : candidates.first) else { return nil }
            return Identity(
                friendlyName: key.bag.friendlyName ?? own.bag.friendlyName,
                localKeyIdentifier: identifier ?? own.bag.localKeyIdentifier,
                privateKey: key.secret, certificate: own.certificate, chain: chain(from: own.certificate, issuers))
        }
    }

    private static func chain(from leaf: Certificate, _ issuers: [[UInt8]: [Certificate]]) -> [Certificate] {
        var chain = [leaf]
        // A self-issued certificate ends the chain; the length limit and `contains` end cycles of issuers.
        while chain.count < chainLength, let last = chain.last, last.normalizedIssuer != last.normalizedSubject,
            let issuer = issuers[last.normalizedIssuer]?.first(where: last.namesAsIssuer), !chain.contains(issuer)
        {
            chain.append(issuer)
        }
        return chain
    }
}

/// One key or certificate in a PKCS#12 file.
struct PKCS12Bag {
    enum Contents {
        case privateKey(SecretBytes)
        case certificate(Certificate)
    }

    let friendlyName: String?
    let localKeyIdentifier: [UInt8]?
    let contents: Contents
}
