// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The other process of the floors that cross a border: this program again, at the far end of a socket.
///
/// Every message in both directions has 256 bytes. The first eight of a request are its number, the ninth says what to
/// do; the answer is the same message.
final class FloorProcess {
    /// What a request asks for.
    enum Order: UInt8 {
        /// Nothing: a round trip.
        case echo = 0
        /// A durable insert of the item of that number.
        case insert = 1
        /// Everything up to that number is filled in, untimed.
        case fill = 2
        /// Everything from that number on is removed, untimed.
        case cut = 3
    }

    private static let byteCount = 256
    private let descriptor: CInt
    /// Its process id.
    let child: pid_t
    private var buffer = [UInt8](repeating: 0x5a, count: byteCount)

    /// Starts it; its inserts go to a database at `path`.
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
        // The other process ends with its connection.
        close(descriptor)
        if child > 0 { waitpid(child, nil, 0) }
    }

    /// Sends an order and waits for the answer.
    func call(_ order: Order, _ number: Int, _ samples: inout Samples) throws(BenchFailure) {
        buffer.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
        buffer[8] = order.rawValue
        let isWhole = samples.time {
            FloorProcess.send(&buffer, descriptor) && FloorProcess.receive(&buffer, descriptor)
        }
        guard isWhole else { throw BenchFailure("The process of the floors is gone.") }
    }

    /// The other process: does what it is told until nobody is there.
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
            case nil: throw BenchFailure("An order of the floors cannot be read.")
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
