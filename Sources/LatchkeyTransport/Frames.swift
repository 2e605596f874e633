// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem

/// Why a peer's bytes were refused.
package enum FrameError: Error, Equatable, Sendable {
    /// The other end is gone.
    case closed
    /// The version byte is one this program does not know.
    case version(UInt8)
    /// The frame is longer than `Limits.frameBytes`.
    case tooLong(Int)
    /// The frame did not arrive in time.
    case timedOut
    case system(SystemError)
}

/// A frame: version byte, four bytes of length (most significant first), payload.
package enum Frame {
    package static let headerBytes = 5

    /// The header of a payload.
    package static func header(_ count: Int) -> [UInt8] {
        [
            Limits.wireVersion, UInt8(truncatingIfNeeded: count >> 24), UInt8(truncatingIfNeeded: count >> 16),
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
    }

    /// The length a header announces.
    package static func length(_ header: UnsafeRawBufferPointer) throws(FrameError) -> Int {
        guard header[0] == Limits.wireVersion else { throw .version(header[0]) }
        let count = Int(header[1]) << 24 | Int(header[2]) << 16 | Int(header[3]) << 8 | Int(header[4])
        guard count <= Limits.frameBytes else { throw .tooLong(count) }
        return count
    }

    /// Header and payload in one wiping value.
    package static func bytes(_ payload: SecretBytes) -> SecretBytes {
        SecretBytes(count: headerBytes + payload.count) { target in
            target.copyBytes(from: header(payload.count))
            payload.withBytes { UnsafeMutableRawBufferPointer(rebasing: target[headerBytes...]).copyMemory(from: $0) }
        }
    }

    /// Writes a frame to a blocking descriptor.
    package static func send(_ payload: SecretBytes, to descriptor: Descriptor) throws(FrameError) {
        guard payload.count <= Limits.frameBytes else { throw .tooLong(payload.count) }
        do throws(SystemError) {
            try bytes(payload).withBytes { (bytes) throws(SystemError) in
                var rest = bytes
                while !rest.isEmpty {
                    let count = try Sockets.send(descriptor, rest) ?? 0
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
            }
        } catch {
            throw .system(error)
        }
    }

    /// Reads one frame from a blocking descriptor; waits until `deadline`, or for ever.
    package static func receive(from descriptor: Descriptor, until deadline: Int64?) throws(FrameError) -> SecretBytes {
        let header = try read(headerBytes, from: descriptor, until: deadline)
        let count = try header.withBytes { (bytes) throws(FrameError) in try length(bytes) }
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
