// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A file of keys and certificates under a passphrase (RFC 7292).
package enum PKCS12 {
    /// Iterations of key derivation that one file may ask for, all its parts together. A part derived by scrypt counts as
    /// the product of its three parameters. At most some seconds of work; the files of browsers and of `openssl` stay far
    /// below, at 2,048 to 600,000 for each part.
    package static let iterations: UInt64 = 4_000_000
    /// Keys and certificates of one file, together.
    package static let bags = 512
    /// Levels of bags within bags.
    static let nesting = 4
    /// Certificates of one chain.
    static let chainLength = 16

    /// A private key and the certificate of its public key.
    package struct Identity: Sendable {
        /// Name that people gave it: of the key, else of the certificate.
        package let friendlyName: String?
        /// Bytes by which the file ties keys to certificates: of the key, else of the certificate.
        package let localKeyIdentifier: [UInt8]?
        /// `PrivateKeyInfo` (PKCS#8) as DER.
        package let privateKey: SecretBytes
        /// The certificate.
        package let certificate: Certificate
        /// The certificate and, as far as the file holds them, the one of its issuer and so on, in this order. Found by
        /// names and key identifiers: nothing is verified.
        package let chain: [Certificate]
    }

    /// Why a file was not opened.
    package enum Refusal: Error, Equatable, Sendable {
        /// It is no PKCS#12 file protected by a passphrase, or is damaged.
        case undecodable
        /// The passphrase is another, or the file was changed: its authentication code does not fit.
        case wrongPassphrase
        /// It is protected in a way that this system's libcrypto cannot undo.
        case unsupported
        /// It asks for more work than `iterations` or holds more than `bags`.
        case tooMuchWork
        /// Memory ran out.
        case failed
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - data: the bytes; more than `Limits.secretBytes` are undecodable.
    ///   - passphrase: UTF-8. An empty one also opens files made without any; nil opens none, and only tells what is no
    ///     file from what is one.
    ///   - iterations: the bound on work.
    ///   - publicKeyHash: what `Certificate.publicKeyHash` is for the certificates of a private key, given as PKCS#8; nil for
    ///     a key of an unknown kind, which belongs to the certificates with its identifier. The caller reads keys because
    ///     libcrypto's own reader of PKCS#8 leaves copies of them in freed memory.
    /// - Returns: the identities in the order of their keys; keys without a certificate and certificates that belong to no
    ///   key are left out.
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
    /// Reads a file as `open` does, whatever its authentication code: a fuzzer would never find one that fits. Not in what
    /// is released.
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

    // MARK: - Pairs and chains

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
            // A renewed certificate has the key of the old one: the file says which is meant.
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
        // A certificate that names itself ends the chain; the bound ends those that name each other.
        while chain.count < chainLength, let last = chain.last, last.normalizedIssuer != last.normalizedSubject,
            let issuer = issuers[last.normalizedIssuer]?.first(where: last.namesAsIssuer), !chain.contains(issuer)
        {
            chain.append(issuer)
        }
        return chain
    }
}

/// One key or certificate of a file.
struct PKCS12Bag {
    enum Contents {
        case privateKey(SecretBytes)
        case certificate(Certificate)
    }

    let friendlyName: String?
    let localKeyIdentifier: [UInt8]?
    let contents: Contents
}
