// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An address to listen on: IPv4 or IPv6 in digits, no name.
struct ListeningAddress: Equatable {
    let text: String
    private let bytes: [UInt8]

    static let loopback = ListeningAddress(text: "127.0.0.1", bytes: [127, 0, 0, 1])

    private init(text: String, bytes: [UInt8]) {
        self.text = text
        self.bytes = bytes
    }

    init(_ text: String) throws(Usage) {
        var short = [UInt8](repeating: 0, count: 4)
        var long = [UInt8](repeating: 0, count: 16)
        self.text = text
        if inet_pton(AF_INET, text, &short) == 1 {
            bytes = short
        } else if inet_pton(AF_INET6, text, &long) == 1 {
            bytes = long
        } else {
            throw Usage(
                "address is not an address of IPv4 or IPv6",
                hint: "0.0.0.0 means every address of IPv4, :: those of IPv6 as well.")
        }
    }

    /// Listens on a port, and returns the socket and the port.
    func listen(on port: UInt16) throws(Usage) -> (socket: CInt, port: UInt16) {
        let isShort = bytes.count == 4
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let listening = socket(isShort ? AF_INET : AF_INET6, type, 0)
        guard listening >= 0 else { throw failure(port) }
        var (yes, no): (CInt, CInt) = (1, 0)
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        // `::` takes connections of IPv4 too, whatever the system's default is.
        if !isShort { setsockopt(listening, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &no, size) }
        var storage = sockaddr_storage()
        let bound = withUnsafeMutableBytes(of: &storage) { storage -> UInt16? in
            var length = socklen_t(fill(storage, port))
            guard let address = storage.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return nil }
            guard bind(listening, address, length) == 0, Glibc.listen(listening, 4096) == 0,
                getsockname(listening, address, &length) == 0
            else { return nil }
            // Both kinds of addresses have the port at the same place, after two bytes for the kind.
            return UInt16(storage[2]) << 8 | UInt16(storage[3])
        }
        guard let bound else {
            let failure = failure(port)
            close(listening)
            throw failure
        }
        return (listening, bound)
    }

    /// Writes the address and a port as `sockaddr_in` or `sockaddr_in6`.
    ///
    /// - Returns: its size in bytes.
    private func fill(_ storage: UnsafeMutableRawBufferPointer, _ port: UInt16) -> Int {
        if bytes.count == 4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return withUnsafeBytes(of: address) { source in
                storage.copyMemory(from: source)
                return source.count
            }
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
        return withUnsafeBytes(of: address) { source in
            storage.copyMemory(from: source)
            return source.count
        }
    }

    private func failure(_ port: UInt16) -> Usage {
        Usage("port \(port) of \(text) cannot be used: \(String(cString: strerror(errno)))")
    }
}

/// Limits of the server that the configuration sets.
struct ServerLimits {
    /// The most connections; nil for as many as the limit of open files permits, at most 10,000.
    let connections: Int64?
    let connectionsPerClient: Int64
    let threads: Int64

    /// Files that are open besides connections: the database, the log, sockets, and what libraries open for a moment.
    private static let otherFiles: Int64 = 64

    /// Raises the limit of open files for the connections, and returns how many there can be.
    func reserveConnections() throws(Usage) -> Int64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Usage("the limit of open files cannot be read: \(String(cString: strerror(errno)))")
        }
        let most = Int64(clamping: limit.rlim_max) - Self.otherFiles
        let wanted = connections ?? min(10_000, max(most, 10))
        guard wanted <= most else {
            throw Usage(
                "\(wanted) connections need \(wanted + Self.otherFiles) open files, and the limit is \(limit.rlim_max)",
                hint: "Set LimitNOFILE= in the unit or `ulimit -Hn`, or a smaller number of connections.")
        }
        limit.rlim_cur = max(limit.rlim_cur, rlim_t(wanted + Self.otherFiles))
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Usage("the limit of open files cannot be raised: \(String(cString: strerror(errno)))")
        }
        return wanted
    }
}
