// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// A message between the process that accepts connections and a process that serves a user: a kind, a number, and at
/// most one descriptor.
package struct HandedMessage: Sendable {
    package var kind: UInt8
    package var number: UInt64 = 0
    package var descriptor: Descriptor?

    static let byteCount = 9

    var bytes: [UInt8] { [kind] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) } }
}

extension HandedMessage {
    init?(_ bytes: [UInt8], _ descriptor: Descriptor?) {
        guard bytes.count == Self.byteCount else { return nil }
        kind = bytes[0]
        number = (0..<8).reduce(0) { $0 | UInt64(bytes[1 + $1]) << (8 * UInt64($1)) }
        self.descriptor = descriptor
    }
}

/// One end of a pair of sockets that retain the borders of messages (SOCK_SEQPACKET, unix(7)), over which descriptors
/// are passed. No call blocks but `wait`.
package struct MessageSocket: Sendable {
    package let descriptor: Descriptor

    /// What was received.
    package enum Received: Sendable {
        case message(HandedMessage)
        case nothing
        /// The other end was closed.
        case end
    }

    /// Takes one end of a pair.
    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// A pair of connected ends. An end accepts few messages that the other one has not received: the descriptors of
    /// these messages count for the user of this process, and a process that does not receive must not use them up.
    package static func pair() throws(SystemError) -> (MessageSocket, MessageSocket) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError("socketpair")
        }
        let pair = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
        // The kernel makes it its minimum, about six messages (socket(7), SO_SNDBUF).
        var bytes: CInt = 1
        for end in [pair.0.number, pair.1.number] {
            guard setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<CInt>.size)) == 0 else {
                throw SystemError("setsockopt")
            }
        }
        return (MessageSocket(pair.0), MessageSocket(pair.1))
    }

    /// Sends a message; false if the other end has to receive earlier ones first.
    package func send(_ message: HandedMessage) throws(SystemError) -> Bool {
        let bytes = message.bytes
        let code = bytes.withUnsafeBytes {
            latchkey_send_message(descriptor.number, $0.baseAddress, $0.count, message.descriptor?.number ?? -1)
        }
        if code == 0 { return true }
        guard errno == EAGAIN else { throw SystemError("sendmsg") }
        return false
    }

    /// Receives the next message.
    ///
    /// - Throws: `SystemError` with EBADMSG for a shorter message, with EMFILE if its descriptor could not be received.
    package func receive() throws(SystemError) -> Received {
        var number: CInt = -1
        var count = 0
        var failure: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: HandedMessage.byteCount) { memory, end in
            count = latchkey_receive_message(descriptor.number, memory.baseAddress, memory.count, &number)
            failure = errno
            end = max(0, count)
        }
        guard count >= 0 else {
            if failure == EAGAIN { return .nothing }
            // The other process has ended and left messages that were not received.
            if failure == ECONNRESET { return .end }
            throw SystemError("recvmsg", code: failure)
        }
        let received = number >= 0 ? Descriptor(owning: number) : nil
        guard count > 0 else { return .end }
        guard let message = HandedMessage(bytes, received) else { throw SystemError("recvmsg", code: EBADMSG) }
        return .message(message)
    }

    /// Waits for a message until the deadline (`Uptime`, nanoseconds), without one for ever; nil at the deadline, and at the
    /// end.
    package func wait(until deadline: Int64?) throws(SystemError) -> HandedMessage? {
        while try descriptor.wait(for: POLLIN, until: deadline) {
            switch try receive() {
            case .message(let message): return message
            case .nothing: continue
            case .end: return nil
            }
        }
        return nil
    }

    /// Ends both directions; the other end receives what was sent before, and then the end.
    package func shutDown() { Sockets.shutDown(descriptor) }
}
