// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyCrypto

/// Files and the listening socket.
enum Files {
    /// Reads a file of at most 64 KiB.
    ///
    /// - Parameter isSecret: whether the file is refused unless only its owner can read and write it.
    static func read(_ path: String, isSecret: Bool = false) throws(Usage) -> [UInt8] {
        // Not waiting for the writer of a FIFO, which is refused below.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw Usage("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Usage("\(path) is not a regular file")
        }
        guard !isSecret || status.st_mode & 0o077 == 0 else {
            throw Usage("\(path) can be read or written by other users; run: chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count >= 0, count < bytes.count else { throw Usage("\(path) cannot be read, or is too long") }
        return Array(bytes[..<count])
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
    static func secret(_ path: String) throws(Usage) -> SecretBytes {
        var text = try read(path, isSecret: true)
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

    /// Listens on a port of 127.0.0.1, and returns the socket and the port.
    static func listen(_ port: UInt16) throws(Usage) -> (socket: CInt, port: UInt16) {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: CInt = 1
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listening, address, length) == 0 && Glibc.listen(listening, 1024) == 0
                    && getsockname(listening, address, &length) == 0
            }
        }
        guard isBound else { throw Usage("port \(port) cannot be used: \(String(cString: strerror(errno)))") }
        return (listening, UInt16(bigEndian: address.sin_port))
    }
}
