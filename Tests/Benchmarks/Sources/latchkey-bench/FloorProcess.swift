// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The second process of the floors that cross a process boundary: this program again, at the other end of a socket.
///
/// Every message has 256 bytes. In a request the first eight bytes are a number and the ninth is the order; the reply
/// is the same message.
final class FloorProcess {
    /// The operation that a request asks for.
    enum Order: UInt8 {
        /// No operation, to measure a round trip.
        case echo = 0
        /// Durably inserts the item with the given number.
        case insert = 1
        /// Inserts all missing items below the given number, untimed.
        case fill = 2
        /// Removes all items from the given number on, untimed.
        case cut = 3
    }

    private static let byteCount = 256
    private let descriptor: CInt
    /// The process id of the second process.
    let child: pid_t
    private var buffer = [UInt8](repeating: 0x5a, count: byteCount)

    /// Starts the second process, which inserts into a database at `path`.
    init(database path: String) throws(BenchFailure) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .system("socketpair")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        var process: pid_t = 0
        let program = "/proc/self/exe"
        var arguments = [strdup(program), strdup("--floor"), strdup(path), nil]
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawn(&process, program, &actions, nil, &arguments, environ)
        close(ends[1])
        descriptor = ends[0]
        child = process
        guard code == 0 else { throw BenchFailure("posix_spawn: \(String(cString: strerror(code)))") }
    }

    deinit {
        // Closing the connection ends the second process.
        close(descriptor)
        if child > 0 { waitpid(child, nil, 0) }
    }

    /// Sends an order and waits for the reply; only this exchange is timed.
    func call(_ order: Order, _ number: Int, _ samples: inout Samples) throws(BenchFailure) {
        buffer.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
        buffer[8] = order.rawValue
        let isWhole = samples.time {
            FloorProcess.send(&buffer, descriptor) && FloorProcess.receive(&buffer, descriptor)
        }
        guard isWhole else { throw BenchFailure("The floor process has ended.") }
    }

    /// The main loop of the second process: executes orders until the connection is closed.
    static func serve(database path: String) throws(BenchFailure) {
        var buffer = [UInt8](repeating: 0, count: byteCount)
        let table = try SQLiteFloor(at: path)
        var end = 0
        var untimed = Samples()
        while receive(&buffer, 0) {
            let number = buffer.withUnsafeBytes { $0.load(as: Int.self) }
            switch Order(rawValue: buffer[8]) {
            case .echo: break
            case .insert:
                try table.insert([Item(number: number)], &untimed)
                end = number + 1
            case .fill:
                try table.fill(end..<number)
                end = number
            case .cut:
                try table.remove(number..<end)
                end = number
            case nil: throw BenchFailure("The floor process received an unknown order.")
            }
            guard send(&buffer, 0) else { return }
        }
    }

    private static func send(_ buffer: inout [UInt8], _ descriptor: CInt) -> Bool {
        Glibc.send(descriptor, buffer, byteCount, CInt(MSG_NOSIGNAL)) == byteCount
    }

    private static func receive(_ buffer: inout [UInt8], _ descriptor: CInt) -> Bool {
        var filled = 0
        while filled < byteCount {
            let count = buffer.withUnsafeMutableBytes { memory in
                read(descriptor, memory.baseAddress.map { $0 + filled }, byteCount - filled)
            }
            guard count > 0 else { return false }
            filled += count
        }
        return true
    }
}
