// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// Collects the bytes of a connection and splits them into frames, however the bytes are split on arrival.
///
/// The memory is wiped after each frame and at the end. It grows once for a frame that needs it, and shrinks after that
/// frame has been taken.
package struct FrameBuffer: ~Copyable {
    /// Capacity in bytes between large frames.
    private static let baseBytes = 16 << 10
    /// Maximum size of a frame, header included, that is read without reserving memory in the `ByteBudget`.
    package static let smallBytes = 64 << 10

    private var base: UnsafeMutableRawPointer
    private var capacity = Self.baseBytes
    private var start = 0
    private var end = 0
    /// Size in bytes of the incomplete frame, header included; 0 until its header has arrived.
    package private(set) var frameBytes = 0

    package init() { base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16) }

    deinit {
        explicit_bzero(base, capacity)
        base.deallocate()
    }

    /// Whether an incomplete frame has been received.
    package var isInsideFrame: Bool { end > start }

    /// Passes free memory to `fill`, which returns how many bytes it wrote. Before this, call `next` until it returns
    /// nil.
    package mutating func append<E: Error>(_ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Int) throws(E) -> Int {
        makeRoom()
        let count = try fill(UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        end += count
        return count
    }

    /// The payload of the next complete frame; nil when none has arrived.
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

    /// Discards all received bytes.
    mutating func clear() {
        start = end
        frameBytes = 0
        replace(by: Self.baseBytes)
    }

    /// Makes room for the whole incomplete frame, or for the start of the next one. The length was checked before, so
    /// a peer cannot make the buffer exceed one frame.
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
