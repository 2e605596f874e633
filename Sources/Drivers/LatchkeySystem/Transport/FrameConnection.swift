// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import Synchronization

/// One connection of a server: the frames that arrive, and the queue of those to send.
///
/// `phase` says whether frames are read, reading is suspended until the budget has room, or only queued frames are sent
/// until the end. An incomplete frame and an unread answer have deadlines, so a peer that stops holds memory for a
/// limited time.
///
/// `send`, `whenDrained` and `endAfterSending` may be called from any thread; everything else only from the server's
/// thread.
package final class FrameConnection: @unchecked Sendable {
    /// The peer's credentials, from the kernel.
    package let peer: PeerCredentials
    /// The process that connected, as it was when the connection was accepted.
    package let process: PeerProcess
    let descriptor: Descriptor
    private weak let server: FrameServer?
    /// What the program holds, of which this connection's frames are a part.
    let share: ByteBudget.Share
    private let deadlines: FrameServer.Deadlines
    private let bindsToSender: Bool
    var receiver: (any FrameReceiver)?
    private var incoming = FrameBuffer()
    /// Memory reserved for the large frame being received.
    private var reservation: HeldBytes?
    private(set) var phase = Phase.reading(frameDeadline: nil)
    var watched: UInt32 = 0
    /// When the first frame must be complete; nil without such a limit, and afterwards.
    private var firstDeadline: Int64?

    enum Phase {
        /// Frames are read; an incomplete one has a deadline.
        case reading(frameDeadline: Int64?)
        /// Reading is suspended until the `ByteBudget` has room.
        case paused
        /// Nothing is read any more; queued frames are sent until the deadline.
        case ending(deadline: Int64)
    }

    private struct Outgoing: Sendable {
        var frames: [SecretBytes] = []
        var offset = 0
        var byteCount = 0
        /// The part of `byteCount` that the budget has counted.
        var counted = 0
        var isBroken = false
        var endsWhenEmpty = false
        /// Callbacks of `whenDrained` that were not called so far.
        var waiting: [@Sendable () -> Void] = []

        /// Removes and returns the callbacks that are due.
        mutating func released() -> [@Sendable () -> Void] {
            guard isBroken || byteCount <= Limits.queuedBytes else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }
    private let outgoing = Mutex(Outgoing())

    init(
        _ descriptor: Descriptor, peer: PeerCredentials, process: PeerProcess, server: FrameServer, budget: ByteBudget,
        deadlines: FrameServer.Deadlines, bindsToSender: Bool
    ) {
        self.descriptor = descriptor
        self.peer = peer
        self.process = process
        self.server = server
        share = budget.share(of: process.program)
        self.deadlines = deadlines
        self.bindsToSender = bindsToSender
        firstDeadline = deadlines.ofFirstFrame
    }

    deinit { outgoing.withLock { giveUp(&$0) } }

    var hasOutgoing: Bool { outgoing.withLock { !$0.frames.isEmpty } }

    var isOver: Bool {
        outgoing.withLock { out in
            out.isBroken || (out.endsWhenEmpty && out.frames.isEmpty)
        }
    }

    /// Whether the peer has closed the connection, even if the server has not read its end yet.
    package var hasPeerLeft: Bool {
        // poll(2) reports the end without being asked for it. A peer whose state cannot be determined counts as connected.
        (try? descriptor.wait(for: 0, until: 0)) ?? false
    }

    /// When the server must check whether this connection is late; nil if it need not.
    var deadline: Int64? {
        switch phase {
        case .reading(let frameDeadline): [frameDeadline, firstDeadline].compactMap(\.self).min()
        case .paused: nil
        case .ending(let deadline): deadline
        }
    }

    // MARK: - Sending

    /// Sends a frame as far as the socket has room, and queues the rest. Disconnects a peer that reads too slowly:
    /// its queue exceeds `Limits.outgoingBytes`, or its program exceeds the `ByteBudget`.
    package func send(_ payload: SecretBytes) {
        let (needsServer, released) = outgoing.withLock { out in
            guard !out.isBroken else { return (false, out.released()) }
            let frame = Frame.bytes(payload)
            out.frames.append(frame)
            out.byteCount += frame.count
            guard out.frames.count == 1 || out.byteCount > Limits.outgoingBytes else { return (false, []) }
            drain(&out)
            if out.byteCount > Limits.outgoingBytes || !count(&out) { giveUp(&out) }
            return (out.isBroken || !out.frames.isEmpty, out.released())
        }
        if needsServer { server?.wake() }
        for body in released { body() }
    }

    func flush() {
        let released = outgoing.withLock { out in
            drain(&out)
            _ = count(&out)
            return out.released()
        }
        for body in released { body() }
    }

    /// Reports the size of the queue to the budget; false when the budget is exceeded.
    private func count(_ out: inout Outgoing) -> Bool {
        let change = out.byteCount - out.counted
        guard change != 0 else { return true }
        out.counted = out.byteCount
        return share.budget.change(by: change, for: share)
    }

    /// Discards the queue and marks the connection as broken.
    private func giveUp(_ out: inout Outgoing) {
        out.isBroken = true
        out.frames = []
        out.byteCount = 0
        _ = count(&out)
    }

    /// Calls `body` once, from any thread, as soon as the queue holds at most `Limits.queuedBytes` or the connection is
    /// broken; possibly before this returns.
    package func whenDrained(_ body: @escaping @Sendable () -> Void) {
        let isNow = outgoing.withLock { out in
            out.waiting.append(body)
            return out.released()
        }
        for body in isNow { body() }
    }

    private func drain(_ out: inout Outgoing) {
        while let frame = out.frames.first {
            let taken: Int?
            do throws(SystemError) {
                let offset = out.offset
                taken = try frame.withBytes { (bytes) throws(SystemError) in
                    try Sockets.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                }
            } catch {
                giveUp(&out)
                return
            }
            guard let taken else { return }
            out.offset += taken
            out.byteCount -= taken
            if out.offset == frame.count {
                out.frames.removeFirst()
                out.offset = 0
            }
        }
    }

    // MARK: - Receiving

    /// Reads available bytes and passes each complete frame to the receiver.
    func readFrames() {
        guard case .reading(var frameDeadline) = phase else { return }
        // The number of reads is bounded, so that one busy peer does not block the others.
        for _ in 0..<16 {
            guard mayRead() else {
                // The frame deadline does not apply while reading is suspended.
                phase = .paused
                return
            }
            let count: Int
            var isOther = false
            do throws(SystemError) {
                count = try incoming.append { (memory) throws(SystemError) in
                    guard bindsToSender else { return try descriptor.read(into: memory) }
                    let (count, sender) = try Sockets.read(descriptor, into: memory)
                    // A sender that the kernel does not name is another one.
                    isOther = count > 0 && sender != peer.processID
                    return count
                }
            } catch {
                if error.code == EAGAIN { break }
                return fail()
            }
            // Requests received before the end of the stream are not answered: the peer has stopped reading.
            if count == 0 { return fail() }
            guard !isOther else { return refuse(.otherSender) }
            switch handOver() {
            case .ended: return
            // The next frame has its own deadline, which starts with its first byte.
            case .some: (frameDeadline, firstDeadline) = (nil, nil)
            case .none: break
            }
            if count < 4096 { break }
        }
        phase = .reading(frameDeadline: incoming.isInsideFrame ? frameDeadline ?? deadlines.ofFrame : nil)
    }

    /// Whether the budget has room for the next frame of this peer. Memory for a large frame is reserved before it is
    /// read.
    private func mayRead() -> Bool {
        guard incoming.frameBytes > FrameBuffer.smallBytes else { return share.budget.mayRead(share) }
        if reservation == nil { reservation = share.budget.reserve(incoming.frameBytes, for: share) }
        return reservation != nil
    }

    /// Resumes reading if the budget has room.
    func resume() {
        guard case .paused = phase, mayRead() else { return }
        phase = .reading(frameDeadline: incoming.isInsideFrame ? deadlines.ofFrame : nil)
    }

    /// Approximate memory of a frame besides its payload, in bytes, so that empty frames count too.
    private static let frameBytes = 256

    private enum HandedOver {
        case none, some, ended
    }

    private func handOver() -> HandedOver {
        var result = HandedOver.none
        do throws(FrameError) {
            while let payload = try incoming.next() {
                let held = reservation ?? share.budget.hold(Self.frameBytes + payload.count, for: share)
                reservation = nil
                receiver?.received(payload, holding: held)
                if case .ending = phase { return .ended }
                result = .some
            }
            return result
        } catch {
            refuse(error)
            return .ended
        }
    }

    /// Reports the violation of the frame format to the peer and ends the connection.
    func refuse(_ error: FrameError) {
        receiver?.refused(error)
        end()
    }

    /// Ends the connection when all queued frames have been sent, or at a deadline. Nothing is read meanwhile: a
    /// refused peer could otherwise keep the server's thread busy.
    package func end() {
        if case .ending = phase { return }
        phase = .ending(deadline: deadlines.ofEnd)
        incoming.clear()
        reservation = nil
        outgoing.withLock { $0.endsWhenEmpty = true }
        server?.wake()
    }

    /// Ends the connection when all queued frames have been sent; may be called from any thread.
    package func endAfterSending() {
        outgoing.withLock { $0.endsWhenEmpty = true }
        server?.wake()
    }

    /// Ends the connection at once: its peer has closed it or missed a deadline.
    func fail() { outgoing.withLock { giveUp(&$0) } }
}
