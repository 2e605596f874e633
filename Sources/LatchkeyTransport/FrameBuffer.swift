// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// Collects the bytes of a connection and cuts them into frames, whatever pieces they arrive in.
///
/// The memory is wiped after every frame and at the end.
package struct FrameBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity = 16 << 10
    private var start = 0
    private var end = 0

    package init() { base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16) }

    deinit {
        explicit_bzero(base, capacity)
        base.deallocate()
    }

    /// Whether a part of a frame waits for its rest.
    package var isInsideFrame: Bool { end > start }

    /// Lends free memory to `fill`, which says how many bytes it wrote.
    package mutating func append<E: Error>(
        _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) -> Int {
        if capacity - end < 4096 { makeRoom() }
        let count = try fill(UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        end += count
        return count
    }

    /// The next whole frame's payload, or nil.
    package mutating func next() throws(FrameError) -> SecretBytes? {
        guard end - start >= Frame.headerBytes else { return nil }
        let count = try Frame.length(UnsafeRawBufferPointer(start: base + start, count: Frame.headerBytes))
        guard end - start >= Frame.headerBytes + count else { return nil }
        let payload = SecretBytes(
            copying: UnsafeRawBufferPointer(start: base + start + Frame.headerBytes, count: count))
        explicit_bzero(base + start, Frame.headerBytes + count)
        start += Frame.headerBytes + count
        if start == end {
            start = 0
            end = 0
            if capacity > 64 << 10 { shrink() }
        }
        return payload
    }

    /// Moves what is there to the front, into a larger piece when that is not enough. The length of a frame was
    /// checked before, so a peer cannot make this grow beyond one frame.
    private mutating func makeRoom() {
        let used = end - start
        let larger = used * 2 + 16 << 10 > capacity ? max(capacity * 2, used + 16 << 10) : capacity
        replace(by: larger)
    }

    private mutating func shrink() { replace(by: 16 << 10) }

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
