// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import LatchkeyCertificates
import LatchkeyModel
import Security
import Testing

/// Reads identities from PKCS#12 files, and distinguishes the reasons why a file cannot be opened.
@Suite struct PKCS12Tests {
    private let made: TestCertificates

    init() throws { made = try .shared() }

    private func open(
        _ file: Data, _ passphrase: String = "secret", iterations: UInt64 = PKCS12.iterations
    ) -> Result<[PKCS12.Identity], PKCS12.Refusal> {
        PKCS12.open(
            Array(file), passphrase: SecretBytes(Array(passphrase.utf8)), iterations: iterations,
            publicKeyHash: publicKeyHash(ofPKCS8:))
    }

    private func refusal(
        _ file: Data, _ passphrase: String = "secret", iterations: UInt64 = PKCS12.iterations
    ) -> PKCS12.Refusal? {
        if case .failure(let refusal) = open(file, passphrase, iterations: iterations) { refusal } else { nil }
    }

    // MARK: - Contents

    @Test(arguments: [TestCertificates.Kind.rsa, .ellipticCurve, .root])
    func identityContainsTheKeyAndItsCertificate(kind: TestCertificates.Kind) throws {
        let file = try made.pkcs12(kind, name: "A name ü")
        let identity = try #require(open(file).get().first)
        #expect(try open(file).get().count == 1)
        #expect(identity.certificate == (try made.certificate(kind).certificate))
        #expect(identity.friendlyName == "A name ü")
        // `openssl` uses the SHA-1 digest of the certificate as localKeyID.
        let fingerprint = try made.printed(kind, "-fingerprint", "-sha1").split(separator: "=").last
        let text = identity.localKeyIdentifier?.map { String(format: "%02X", $0) }.joined(separator: ":")
        #expect(text == fingerprint.map(String.init))
        #expect(identity.chain == [identity.certificate])
        let key = try made.run(["pkcs8", "-topk8", "-nocrypt", "-in", "\(kind).key", "-outform", "DER"])
        #expect(identity.privateKey.copyBytes() == Array(key))
    }

    @Test(arguments: [
        [], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "sha1"],
        ["-keypbe", "NONE", "-certpbe", "NONE"], ["-keypbe", "aes-128-cbc", "-certpbe", "NONE"],
        ["-macalg", "sha512", "-iter", "1"],
    ])
    func everyCurrentProtectionSchemeIsDecrypted(options: [String]) throws {
        let file = try made.pkcs12(.leaf, more: options)
        #expect(try open(file).get().map(\.certificate) == [made.certificate(.leaf).certificate])
        #expect(refusal(file, "wrong") == .wrongPassphrase)
    }

    /// Legacy files use 40-bit RC2 from libcrypto's "legacy" provider, which some distributions package separately.
    @Test func legacyFilesAreReadIfLibcryptoSupportsThem() throws {
        let file = try made.pkcs12(.leaf, more: ["-legacy"])
        switch open(file) {
        case .success(let identities):
            #expect(identities.map(\.certificate) == [try made.certificate(.leaf).certificate])
        case .failure(let refusal):
            print("libcrypto has no \"legacy\" provider here: only the rejection is tested")
            #expect(refusal == .unsupported)
        }
        #expect(refusal(file, "wrong") == .wrongPassphrase)
    }

    @Test func appsLibcryptoContextAndErrorQueueStayUnchanged() throws {
        let file = try made.pkcs12(.leaf, more: ["-legacy"])
        _ = open(file)
        _ = open(file, "wrong")
        _ = open(file.dropLast())
        #expect(EVP_CIPHER_fetch(nil, "RC2-40-CBC", nil) == nil)
        ERR_clear_error()
        _ = open(file)
        _ = open(file, "wrong")
        _ = open(file.dropLast())
        _ = Certificate(der: Array(try made.der(.leaf).dropFirst(9)))
        #expect(ERR_peek_error() == 0)
        // An error that the app left in the queue stays there.
        #expect(EVP_CIPHER_fetch(nil, "RC2-40-CBC", nil) == nil)
        let own = ERR_peek_last_error()
        #expect(own != 0)
        _ = open(file, "wrong")
        _ = open(file.dropLast())
        _ = SecCertificateCreateWithData(nil, Data(1...9) as NSData)
        #expect(ERR_peek_last_error() == own)
        ERR_clear_error()
    }

    @Test(arguments: ["", "pässwörd 🔑", " ", String(repeating: "long ", count: 40)])
    func passphraseMayBeAnyText(passphrase: String) throws {
        let file = try made.pkcs12(.leaf, passphrase: passphrase)
        #expect(try open(file, passphrase).get().count == 1)
        #expect(refusal(file, passphrase + "x") == .wrongPassphrase)
        // Key derivation appends zero bytes to a passphrase (RFC 7292, appendix B.2), so "" and "\0" are equivalent.
        if !passphrase.isEmpty {
            #expect(refusal(file, passphrase + "\0") == .wrongPassphrase, "a zero byte does not end the passphrase")
        }
    }

    @Test func fileIsNotOpenedWithoutAPassphrase() throws {
        let file = Array(try made.pkcs12(.leaf, passphrase: ""))
        guard
            case .failure(.wrongPassphrase) = PKCS12.open(file, passphrase: nil, publicKeyHash: publicKeyHash(ofPKCS8:))
        else {
            Issue.record("opened")
            return
        }
        guard
            case .failure(.undecodable) = PKCS12.open(
                [1, 2, 3], passphrase: nil, publicKeyHash: publicKeyHash(ofPKCS8:))
        else {
            Issue.record("decoded")
            return
        }
    }

    @Test func chainOrderIsIndependentOfTheFileOrder() throws {
        for others in [["root", "intermediate"], ["intermediate", "root"], ["units", "root", "rsa", "intermediate"]] {
            let file = try made.pkcs12(.leaf, chain: others)
            let identity = try #require(open(file).get().first)
            let expected = try [TestCertificates.Kind.leaf, .intermediate, .root].map {
                try made.certificate($0).certificate
            }
            #expect(identity.chain == expected)
        }
        let gap = try #require(open(try made.pkcs12(.leaf, chain: ["root"])).get().first)
        #expect(gap.chain == [try made.certificate(.leaf).certificate], "a chain ends where its issuer is missing")
    }

    @Test func unpairedKeysAndCertificatesAreOmitted() throws {
        let certificates = try made.run([
            "pkcs12", "-export", "-nokeys", "-in", "leaf.pem", "-passout", "pass:secret",
        ])
        #expect(try open(certificates).get().isEmpty)
        let key = try made.run([
            "pkcs12", "-export", "-nocerts", "-inkey", "leaf.key", "-passout", "pass:secret",
        ])
        #expect(try open(key).get().isEmpty)
    }

    // MARK: - Rejected files

    @Test func filesWithoutAMACAreUndecodable() throws {
        #expect(refusal(try made.pkcs12(.leaf, more: ["-nomac"])) == .undecodable)
    }

    @Test func changedFileFailsItsMAC() throws {
        var file = try made.pkcs12(.leaf)
        // The middle of the file is encrypted data, far from every length byte.
        file[file.count / 2] ^= 1
        #expect(refusal(file) == .wrongPassphrase)
    }

    @Test func malformedFilesAreUndecodable() throws {
        let file = try made.pkcs12(.leaf)
        for bytes in [
            Data(), Data([0x30]), Data([0x30, 0]), Data("text".utf8), try made.der(.leaf), file + Data([0]),
            file + file, file.dropLast(), file.dropFirst(), Data(count: 4096), Data(count: (1 << 20) + 1),
        ] { #expect(refusal(bytes) == .undecodable, "\(bytes.count) bytes") }
    }

    @Test func truncatedFilesAreUndecodable() throws {
        let file = try made.pkcs12(.leaf)
        for count in 0..<file.count { #expect(refusal(file.prefix(count)) == .undecodable, "\(count)") }
    }

    // MARK: - Limits

    @Test func excessiveIterationsAreRejectedBeforeTheyRun() throws {
        var file = try made.pkcs12(.leaf, more: ["-iter", "65537"])
        // The file ends with the iteration count of its MAC (RFC 7292, section 4).
        try #require(file.suffix(5) == Data([0x02, 0x03, 0x01, 0x00, 0x01]))
        // Three key derivations: for the MAC, the certificate and the key.
        #expect(refusal(file, iterations: 65_536) == .tooMuchWork)
        #expect(refusal(file, iterations: 2 * 65_537) == .tooMuchWork)
        #expect(refusal(file, iterations: 3 * 65_537) == nil)
        #expect(refusal(file, "wrong", iterations: 65_536) == .tooMuchWork)
        file.replaceSubrange((file.count - 3)..<file.count, with: [0x7f, 0xff, 0xff])
        #expect(refusal(file) == .tooMuchWork)
        file.replaceSubrange((file.count - 3)..<file.count, with: [0xff, 0xff, 0xff])
        #expect(refusal(file) == .undecodable, "a negative number, not in its shortest form")
    }

    @Test func scryptCostIsTheProductOfItsParameters() throws {
        let key = try made.run([
            "pkcs8", "-topk8", "-in", "leaf.key", "-scrypt", "-scrypt_N", "1024", "-scrypt_r", "8", "-scrypt_p", "1",
            "-passout", "pass:secret", "-outform", "DER",
        ])
        let file = pkcs12(bags: [safeBag(2, Array(key)), certificateBag(Array(try made.der(.leaf)))])
        #expect(unauthenticated(file, iterations: 8191) == .failure(.tooMuchWork))
        #expect(try unauthenticated(file, iterations: 8192).get() == 1)
    }

    @Test func bagCountAndNestingAreLimited() throws {
        let certificate = certificateBag(Array(try made.der(.leaf)))
        let key = try made.run(["pkcs8", "-topk8", "-nocrypt", "-in", "leaf.key", "-outform", "DER"])
        let pair = [safeBag(1, Array(key)), certificate]
        #expect(try unauthenticated(pkcs12(bags: pair)).get() == 1)
        let many = Array(repeating: certificate, count: PKCS12.bags)
        #expect(try unauthenticated(pkcs12(bags: many)).get() == 0)
        #expect(unauthenticated(pkcs12(bags: many + [certificate])) == .failure(.tooMuchWork))
        var nested = pair
        for depth in 1...40 {
            nested = [safeBag(6, der(0x30, nested.flatMap(\.self)))]
            let expected: Result<Int, PKCS12.Refusal> = depth <= 4 ? .success(1) : .failure(.undecodable)
            #expect(unauthenticated(pkcs12(bags: nested)) == expected, "depth \(depth)")
        }
    }

    /// The number of identities read when the MAC is ignored.
    private func unauthenticated(_ file: [UInt8], iterations: UInt64 = 0) -> Result<Int, PKCS12.Refusal> {
        PKCS12.testOnlyOpenUnauthenticated(
            file, passphrase: SecretBytes(Array("secret".utf8)), iterations: iterations,
            publicKeyHash: publicKeyHash(ofPKCS8:)
        )
        .map(\.count)
    }

    @Test func cyclesOfIssuersEndTheChain() throws {
        let file = try made.pkcs12(.leaf, chain: ["root", "intermediate", "root", "intermediate", "leaf"])
        #expect(try open(file).get().first?.chain.count == 3)
    }

    @Test func filesOfBrowsersAreWithinTheIterationLimit() {
        // Firefox derives each of three parts with 600,000 iterations.
        #expect(PKCS12.iterations >= 3 * 600_000)
    }
}
