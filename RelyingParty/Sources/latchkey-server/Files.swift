// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP

/// Files of the configuration.
enum Files {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isSecret: whether the file is refused unless this user, root or `owner` owns it, and only the owner can read and
    ///     write it.
    ///   - owner: the user of the server, for whom root runs a command; nil for none.
    ///   - limit: a file of so many bytes or more is refused.
    static func read(
        _ path: String, isSecret: Bool = false, owner: uid_t? = nil, limit: Int = 65536
    ) throws(Usage) -> [UInt8] {
        // Not waiting for the writer of a FIFO, which is refused below.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file: CInt
        if isSecret {
            // Root could be made to copy a secret of its own otherwise.
            let place = try FilePlace(path)
            defer { place.close() }
            file = openat(place.folder, place.name, flags)
        } else {
            file = open(path, flags)
        }
        guard file >= 0 else { throw Usage("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Usage("\(path) is not a regular file")
        }
        guard !isSecret || status.st_mode & (isCredential(path) ? 0o037 : 0o077) == 0 else {
            throw Usage("\(path) can be read or written by other users", hint: "Run: chmod 600 \(path)")
        }
        guard !isSecret || status.st_uid == geteuid() || status.st_uid == 0 || status.st_uid == owner else {
            throw Usage(
                "\(path) belongs to another user, who knows the secret",
                hint: "Give the file to the user of the server.")
        }
        // One byte more than the file has, up to the limit: a file that grows meanwhile is refused. Files of /proc have no
        // size.
        let size = status.st_size > 0 ? min(limit - 1, Int(clamping: status.st_size)) : limit - 1
        var bytes = [UInt8](repeating: 0, count: size + 1)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0, count < bytes.count else { throw Usage("\(path) cannot be read, or is too long") }
        return Array(bytes[..<count])
    }

    /// Whether the service manager made the file for this service (systemd.exec(5), Credentials). Where its file system
    /// has access lists, the file belongs to root, a list permits the service to read it, and the mask of the list looks
    /// like a permission of the group.
    static func isCredential(_ path: String) -> Bool {
        guard let folder = getenv("CREDENTIALS_DIRECTORY").flatMap({ String(validatingCString: $0) }),
            folder.utf8.first == UInt8(ascii: "/")
        else { return false }
        return path.utf8.starts(with: (folder + "/").utf8)
            && !path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
    }

    /// Reads a certificate and its private key.
    static func certificate(_ paths: (certificate: String, keyFile: String)) throws(Usage) -> TLSCertificate {
        let text = try read(paths.certificate)
        var key = try read(paths.keyFile, isSecret: true)
        defer { for index in key.indices { key[index] = 0 } }
        do throws(TLSCertificateError) {
            return try certificate(text, key)
        } catch {
            switch error {
            case .notCertificates:
                throw Usage(
                    "\(paths.certificate) has no certificate in PEM, or more than 10",
                    hint: "Write the certificate of the server first, then those of its issuers.")
            case .notPrivateKey:
                throw Usage(
                    "\(paths.keyFile) has no private key in PEM, or one with a password",
                    hint: "Remove the password: openssl pkey -in OLD -out NEW")
            case .otherKey:
                throw Usage(
                    "the key of \(paths.keyFile) does not belong to the first certificate of \(paths.certificate)",
                    hint: "Compare: openssl pkey -in KEY -pubout; openssl x509 -in CERTIFICATE -noout -pubkey")
            }
        }
    }

    private static func certificate(_ text: [UInt8], _ key: [UInt8]) throws(TLSCertificateError) -> TLSCertificate {
        do throws(TLSCertificateError) {
            return try TLSCertificate(certificates: text, privateKey: key)
        } catch {
            guard error == .notPrivateKey, let whole = LibCrypto.statingPublicKey(pem: key) else { throw error }
            var key = whole.withBytes { Array($0) }
            defer { for index in key.indices { key[index] = 0 } }
            return try TLSCertificate(certificates: text, privateKey: key)
        }
    }

    /// Refuses a database that other users can read or write; one that does not exist is made for its owner only.
    static func checkDatabase(_ path: String) throws(Usage) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 == 0 else {
            throw Usage("\(path) is no regular file, or other users can read or write it; run: chmod 600 \(path)")
        }
    }

    /// Reads a secret: 64 hexadecimal digits, as `openssl rand -hex 32` writes them.
    ///
    /// - Parameter owner: as for ``read(_:isSecret:owner:limit:)``.
    static func secret(_ path: String, owner: uid_t?) throws(Usage) -> SecretBytes {
        var text = try read(path, isSecret: true, owner: owner)
        defer { for index in text.indices { text[index] = 0 } }
        let digits = (text.last == 0x0a ? text.dropLast() : text[...]).compactMap {
            Character(Unicode.Scalar($0)).hexDigitValue
        }
        guard digits.count == 64, text.count <= 65 else {
            throw Usage("\(path) is not 64 hexadecimal digits; make it with: openssl rand -hex 32")
        }
        var bytes = (0..<32).map { UInt8(truncatingIfNeeded: digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
        return SecretBytes(taking: &bytes)
    }
}
