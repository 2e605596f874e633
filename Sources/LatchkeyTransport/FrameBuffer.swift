// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// Collects the bytes of a connection and cuts them into frames, whatever pieces they arrive in.
///
/// The memory is wiped after every frame and at the end. It grows once for a frame that needs it, and is given back
/// when that frame has been taken.
package struct FrameBuffer: ~Copyable {
    /// Bytes that a buffer has without a frame under way.
    private static let baseBytes = 16 << 10
    /// Bytes that a buffer may have without anybody being asked.
    package static let smallBytes = 64 << 10

    private var base: UnsafeMutableRawPointer
    private var capacity = Self.baseBytes
    private var start = 0
    private var end = 0
    /// Bytes of the frame under way with its header, once the header is there; else 0.
    package private(set) var frameBytes = 0

    package init() { base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16) }

    deinit {
        explicit_bzero(base, capacity)
        base.deallocate()
    }

    /// Whether a part of a frame waits for its rest.
    package var isInsideFrame: Bool { end > start }

    /// Lends free memory to `fill`, which says how many bytes it wrote. What was there was cut into frames by `next`.
    package mutating func append<E: Error>(
        _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) -> Int {
        makeRoom()
        let count = try fill(UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        end += count
        return count
    }

    /// The next whole frame's payload, or nil.
    package mutating func next() throws(FrameError) -> SecretBytes? {
        guard end - start >= Frame.headerBytes else { return nil }
        let count = try Frame.length(UnsafeRawBufferPointer(start: base + start, count: Frame.headerBytes))
        guard end - start >= Frame.headerBytes + count else {
            frameBytes = Frame.headerBytes + count
            return nil
        }
        let payload = SecretBytes(
            copying: UnsafeRawBufferPointer(start: base + start + Frame.headerBytes, count: count))
        explicit_bzero(base + start, Frame.headerBytes + count)
        start += Frame.headerBytes + count
        frameBytes = 0
        if start == end {
            start = 0
            end = 0
            if capacity > Self.smallBytes { replace(by: Self.baseBytes) }
        }
        return payload
    }

    /// Drops what is there.
    mutating func clear() {
        start = end
        frameBytes = 0
        replace(by: Self.baseBytes)
    }

    /// Room for the frame under way as a whole, or for the beginning of the next. The length of a frame was checked
    /// before, so a peer cannot make this grow beyond one frame.
    private mutating func makeRoom() {
        let used = end - start
        if frameBytes > capacity {
            replace(by: frameBytes)
        } else if start > 0, capacity - start < max(frameBytes, used + 4096) {
            memmove(base, base + start, used)
            explicit_bzero(base + used, end - used)
            start = 0
            end = used
        }
    }

    private mutating func replace(by larger: Int) {
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: base + start, byteCount: end - start)
        explicit_bzero(base, capacity)
        base.deallocate()
        base = moved
        capacity = larger
        end -= start
        start = 0
    }
}
