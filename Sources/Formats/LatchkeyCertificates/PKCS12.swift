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
        package let certificate: Certificate
        /// The certificate, its issuer's, and so on, as far as the file contains them. Issuers are found by name and
        /// key identifier; no signature is verified.
        package let chain: [Certificate]
    }

    /// The reason why a file was not opened.
    package enum Refusal: Error, Equatable, Sendable {
        /// The data is malformed, or is not a PKCS#12 file protected by a passphrase.
        case undecodable
        /// The file has no identity except those whose private key is malformed or of an unsupported type.
        case unreadableKey
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
    ///     for a key that is malformed or of an unsupported type. The caller provides this, because libcrypto's own
    ///     PKCS#8 reader leaves copies of keys in freed memory.
    /// - Returns: the identities in the order of their keys, without keys that have no certificate and certificates
    ///   that have no key. Keys and certificates that cannot be read are left out too, unless no identity remains: then
    ///   the result is the refusal of the first one.
    package static func open(
        _ data: [UInt8], passphrase: SecretBytes?, iterations: UInt64 = iterations,
        publicKeyHash: (SecretBytes) -> [UInt8]?
    ) -> Result<[Identity], Refusal> {
        Result { () throws(Refusal) in
            let file = try PKCS12File(data, iterations: iterations)
            try file.authenticate(passphrase)
            return try identities(in: try file.bags(), publicKeyHash)
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
            return try identities(in: try file.bags(), publicKeyHash)
        }
    }
    #endif

    // MARK: - Identities and chains

    private static func identities(
        in bags: [PKCS12Bag], _ publicKeyHash: (SecretBytes) -> [UInt8]?
    ) throws(Refusal) -> [Identity] {
        var keys: [(secret: SecretBytes, hash: [UInt8], bag: PKCS12Bag)] = []
        var certificates: [(certificate: Certificate, bag: PKCS12Bag)] = []
        var refusals: [Refusal] = []
        for bag in bags {
            switch bag.contents {
            case .privateKey(let secret):
                if let hash = publicKeyHash(secret) {
                    keys.append((secret, hash, bag))
                } else {
                    refusals.append(.unreadableKey)
                }
            case .certificate(let certificate): certificates.append((certificate, bag))
            case .unreadable(let refusal): refusals.append(refusal)
            }
        }
        let issuers = Dictionary(grouping: certificates.map(\.certificate), by: \.normalizedSubject)
        let identities = keys.compactMap { key -> Identity? in
            let identifier = key.bag.localKeyIdentifier
            let candidates = certificates.filter { $0.certificate.publicKeyHash == key.hash }
            // A renewed certificate may share its key with an older one; `localKeyID` selects the intended certificate.
            let named = identifier == nil ? nil : candidates.first { $0.bag.localKeyIdentifier == identifier }
            guard let own = named ?? candidates.first else { return nil }
            return Identity(
                friendlyName: key.bag.friendlyName ?? own.bag.friendlyName,
                localKeyIdentifier: identifier ?? own.bag.localKeyIdentifier,
                privateKey: key.secret, certificate: own.certificate, chain: chain(from: own.certificate, issuers))
        }
        // An empty result would say that the file has no identity.
        if identities.isEmpty, let refusal = refusals.first { throw refusal }
        return identities
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
        /// A key or a certificate that cannot be decrypted or read, while the rest of the file can.
        case unreadable(PKCS12.Refusal)
    }

    let friendlyName: String?
    let localKeyIdentifier: [UInt8]?
    let contents: Contents
}
