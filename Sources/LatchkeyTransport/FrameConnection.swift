// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// One peer of a server. `send` may be called from any thread; everything else belongs to the server's thread.
package final class FrameConnection: @unchecked Sendable {
    /// Who connected, from the kernel.
    package let peer: PeerCredentials
    /// The process that connected, as it was when it was let in.
    package let process: PeerProcess
    let descriptor: Descriptor
    private weak let server: FrameServer?
    private let budget: ByteBudget
    private let deadlines: FrameServer.Deadlines
    var receiver: (any FrameReceiver)?
    private var incoming = FrameBuffer()
    /// Room for the large frame under way.
    private var reservation: HeldBytes?
    private(set) var phase = Phase.reading(frameDeadline: nil)
    var watched: UInt32 = 0

    enum Phase {
        /// Frames are read; one that has begun has a deadline.
        case reading(frameDeadline: Int64?)
        /// Nothing is read until the daemon holds fewer bytes.
        case paused
        /// Nothing is read any more; what was sent has until then to leave.
        case ending(deadline: Int64)
    }

    private struct Outgoing: Sendable {
        var frames: [SecretBytes] = []
        var offset = 0
        var byteCount = 0
        /// How much of `byteCount` the budget knows.
        var counted = 0
        var isBroken = false
        var endsWhenEmpty = false
        /// Who waits until less is queued.
        var waiting: [@Sendable () -> Void] = []

        /// Those who need not wait any more.
        mutating func released() -> [@Sendable () -> Void] {
            guard isBroken || byteCount <= Limits.queuedBytes else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }
    private let outgoing = Mutex(Outgoing())

    init(
        _ descriptor: Descriptor, peer: PeerCredentials, process: PeerProcess, server: FrameServer, budget: ByteBudget,
        deadlines: FrameServer.Deadlines
    ) {
        self.descriptor = descriptor
        self.peer = peer
        self.process = process
        self.server = server
        self.budget = budget
        self.deadlines = deadlines
    }

    deinit { outgoing.withLock { giveUp(&$0) } }

    var hasOutgoing: Bool { outgoing.withLock { !$0.frames.isEmpty } }

    var isOver: Bool {
        outgoing.withLock { out in
            out.isBroken || (out.endsWhenEmpty && out.frames.isEmpty)
        }
    }

    /// The next moment at which the server looks whether this connection is late.
    var deadline: Int64? {
        switch phase {
        case .reading(let frameDeadline): frameDeadline
        case .paused: nil
        case .ending(let deadline): deadline
        }
    }

    // MARK: - Sending

    /// Sends a frame now as far as the socket takes it, and the rest when it can. A peer that reads too slowly for
    /// `Limits.outgoingBytes`, or for what its program may hold, is disconnected.
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

    /// Tells the budget how much waits now; false when that is too much.
    private func count(_ out: inout Outgoing) -> Bool {
        let change = out.byteCount - out.counted
        guard change != 0 else { return true }
        out.counted = out.byteCount
        return budget.change(by: change, for: process.executable)
    }

    /// Drops what waits: nobody takes it.
    private func giveUp(_ out: inout Outgoing) {
        out.isBroken = true
        out.frames = []
        out.byteCount = 0
        _ = count(&out)
    }

    /// Calls `body` once, as soon as at most `Limits.queuedBytes` wait for the peer, or nothing can be sent any more:
    /// perhaps before this returns, from any thread.
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

    /// Reads what is there and hands over every whole frame.
    func readFrames() {
        guard case .reading(var frameDeadline) = phase else { return }
        // A bounded number of reads, so that one busy peer does not keep the others waiting.
        for _ in 0..<16 {
            guard mayRead() else {
                // What arrives is not late while nobody reads it.
                phase = .paused
                return
            }
            let count: Int
            do throws(SystemError) {
                count = try incoming.append { (memory) throws(SystemError) in try descriptor.read(into: memory) }
            } catch {
                if error.code == EAGAIN { break }
                return fail()
            }
            // What was asked before the end is not answered: nobody reads any more.
            if count == 0 { return fail() }
            switch handOver() {
            case .ended: return
            // The time of the next frame begins with its own first byte.
            case .some: frameDeadline = nil
            case .none: break
            }
            if count < 4096 { break }
        }
        phase = .reading(
            frameDeadline: incoming.isInsideFrame
                ? frameDeadline ?? deadlines.ofFrame : nil)
    }

    /// Whether the daemon has room for what this peer sends next. A large frame gets all its room before it is read.
    private func mayRead() -> Bool {
        guard incoming.frameBytes > FrameBuffer.smallBytes else { return budget.mayRead(process.executable) }
        if reservation == nil { reservation = budget.reserve(incoming.frameBytes, for: process.executable) }
        return reservation != nil
    }

    /// Reads again if there is room now.
    func resume() {
        guard case .paused = phase, mayRead() else { return }
        phase = .reading(
            frameDeadline: incoming.isInsideFrame ? deadlines.ofFrame : nil)
    }

    private enum HandedOver {
        case none, some, ended
    }

    private func handOver() -> HandedOver {
        var result = HandedOver.none
        do throws(FrameError) {
            while let payload = try incoming.next() {
                let held = reservation ?? budget.hold(payload.count, for: process.executable)
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

    /// Answers that the format was broken and ends the connection.
    func refuse(_ error: FrameError) {
        receiver?.refused(error)
        end()
    }

    /// Ends the connection when everything that was sent has left, or when its peer does not take that in time.
    /// Nothing is read any more: further bytes of a peer that was refused would keep the server's thread busy.
    package func end() {
        if case .ending = phase { return }
        phase = .ending(deadline: deadlines.ofEnd)
        incoming.clear()
        reservation = nil
        outgoing.withLock { $0.endsWhenEmpty = true }
        server?.wake()
    }

    /// Ends the connection now: its peer is gone, or too late.
    func fail() { outgoing.withLock { giveUp(&$0) } }
}
