// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// Why a frame could not be sent or received.
package enum FrameError: Error, Equatable, Sendable {
    case closed
    /// The version byte is not supported.
    case version(UInt8)
    /// The frame is longer than `Limits.frameBytes`.
    case tooLong(Int)
    case timedOut
    /// Another process than the one that connected has sent it.
    case otherSender
    case system(SystemError)
}

/// The frame format: version byte, payload length in four bytes (big-endian), payload.
package enum Frame {
    package static let headerBytes = 5

    /// The header for a payload of `count` bytes.
    package static func header(_ count: Int) -> [UInt8] {
        [
            Limits.wireVersion, UInt8(truncatingIfNeeded: count >> 24), UInt8(truncatingIfNeeded: count >> 16),
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
    }

    /// The payload length in a header; throws for another version or a length above `Limits.frameBytes`.
    package static func length(_ header: UnsafeRawBufferPointer) throws(FrameError) -> Int {
        guard header[0] == Limits.wireVersion else { throw .version(header[0]) }
        let count = Int(header[1]) << 24 | Int(header[2]) << 16 | Int(header[3]) << 8 | Int(header[4])
        guard count <= Limits.frameBytes else { throw .tooLong(count) }
        return count
    }

    /// Header and payload, in memory that is wiped when freed.
    package static func bytes(_ payload: SecretBytes) -> SecretBytes {
        SecretBytes(count: headerBytes + payload.count) { target in
            target.copyBytes(from: header(payload.count))
            payload.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[headerBytes...]).copyMemory(from: $0) }
        }
    }

    /// Writes a frame to a blocking descriptor; throws `timedOut` if the peer does not read and the descriptor has a time
    /// limit (`Sockets.limitSending`).
    package static func send(_ payload: SecretBytes, to descriptor: Descriptor) throws(FrameError) {
        guard payload.count <= Limits.frameBytes else { throw .tooLong(payload.count) }
        do throws(SystemError) {
            try bytes(payload).withBytes { (bytes) throws(SystemError) in
                var rest = bytes
                while !rest.isEmpty {
                    // Nil only after the time limit, because the descriptor blocks.
                    guard let count = try Sockets.send(descriptor, rest) else {
                        throw SystemError("send", code: ETIMEDOUT)
                    }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
            }
        } catch {
            if error.code == ETIMEDOUT { throw .timedOut }
            throw .system(error)
        }
    }

    /// Reads the payload of one frame from a blocking descriptor; waits until `deadline` (`Uptime` nanoseconds),
    /// without limit when it is nil. Refuses a payload of more than `limit` bytes before it reads it.
    package static func receive(
        from descriptor: Descriptor, until deadline: Int64?, limit: Int = Limits.frameBytes
    ) throws(FrameError) -> SecretBytes {
        let header = try read(headerBytes, from: descriptor, until: deadline)
        let count = try header.withBytes { (bytes) throws(FrameError) in try length(bytes) }
        guard count <= limit else { throw .tooLong(count) }
        return try read(count, from: descriptor, until: deadline)
    }

    private static func read(
        _ count: Int, from descriptor: Descriptor, until deadline: Int64?
    ) throws(FrameError) -> SecretBytes {
        try SecretBytes(count: count) { (target) throws(FrameError) in
            var filled = 0
            while filled < count {
                let step: Int
                do throws(SystemError) {
                    if deadline != nil, try !descriptor.wait(for: POLLIN, until: deadline) {
                        throw SystemError("poll", code: ETIMEDOUT)
                    }
                    step = try descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: target[filled...]))
                } catch {
                    if error.code == ETIMEDOUT { throw .timedOut }
                    if error.code == ECONNRESET { throw .closed }
                    throw .system(error)
                }
                guard step > 0 else { throw .closed }
                filled += step
            }
        }
    }
}
