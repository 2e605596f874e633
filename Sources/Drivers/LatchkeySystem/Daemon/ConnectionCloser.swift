// SPDX-License-Identifier: Apache-2.0

/// Closes what the accepting process has of connections that it has passed on or refused.
///
/// To close a connection that no other process has is to discard what its program sent, descriptors too, and the close of one of
/// these lasts as long as that program likes (SO_LINGER, socket(7)). Kernels from Linux 6.16 on refuse descriptors that are sent
/// to such a connection; before, it is closed by the exit of a process, which waits for nothing.
struct ConnectionCloser {
    /// Connections that are closed at the same time, and how many may wait for that.
    private static let (batch, most) = (64, 256)
    /// Nanoseconds after which few are closed too, and between looks at a process.
    private static let delay: Int64 = 20_000_000

    private let closesHere: Bool
    private var connections: [Descriptor] = []
    private var process: ChildProcess?
    /// The next time at which there is something to do; nil if there is nothing.
    private(set) var deadline: Int64?

    /// - Parameter refusing: listening sockets, which refuse descriptors from now on if the kernel can.
    init(refusing listeners: [Descriptor]) {
        // Not `contains`: each of them is to be set.
        closesHere = listeners.map(Sockets.refuseDescriptors).allSatisfy(\.self)
    }

    /// For tests: closes as on a kernel that cannot refuse descriptors.
    init() { closesHere = false }

    /// Whether no further connection may be accepted for now, because no process could be started for those that wait.
    var isFull: Bool { connections.count >= Self.most }

    mutating func close(_ connection: Descriptor, at now: Int64) {
        guard !closesHere else { return }
        connections.append(connection)
        if connections.count >= Self.batch { closeAll(at: now) } else { deadline = deadline ?? now + Self.delay }
    }

    mutating func proceed(at now: Int64) {
        guard let due = deadline, due <= now else { return }
        if process?.wait(until: 0) != nil { process = nil }
        closeAll(at: now)
    }

    mutating func closeAll(at now: Int64) {
        var waiting = connections
        if !waiting.isEmpty {
            connections = []
            do throws(SystemError) {
                // The process before it is reaped by the start of this one, or of a later one.
                process = try ChildProcess.closing { waiting = [] }
            } catch {
                // Without memory for a process they stay open, and are tried again.
                connections = waiting
            }
        }
        deadline = connections.isEmpty && process == nil ? nil : now + Self.delay
    }
}
