// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// One peer of a server. `send` may be called from any thread; everything else belongs to the server's thread.
package final class FrameConnection: @unchecked Sendable {
    /// Who connected, from the kernel.
    package let peer: PeerCredentials
    let descriptor: Descriptor
    private weak let server: FrameServer?
    var receiver: (any FrameReceiver)?
    private var incoming = FrameBuffer()
    var frameDeadline: Int64?
    var watched: UInt32 = 0
    private var sawEnd = false

    private struct Outgoing: Sendable {
        var frames: [SecretBytes] = []
        var offset = 0
        var byteCount = 0
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

    init(_ descriptor: Descriptor, peer: PeerCredentials, server: FrameServer) {
        self.descriptor = descriptor
        self.peer = peer
        self.server = server
    }

    var hasOutgoing: Bool { outgoing.withLock { !$0.frames.isEmpty } }

    var isOver: Bool {
        outgoing.withLock { out in
            out.isBroken || (out.endsWhenEmpty && out.frames.isEmpty) || (sawEnd && out.frames.isEmpty)
        }
    }

    // MARK: - Sending

    /// Sends a frame now as far as the socket takes it, and the rest when it can. A peer that reads too slowly for
    /// `Limits.outgoingBytes` is disconnected.
    package func send(_ payload: SecretBytes) {
        let (needsServer, released) = outgoing.withLock { out in
            guard !out.isBroken else { return (false, out.released()) }
            let frame = Frame.bytes(payload)
            out.frames.append(frame)
            out.byteCount += frame.count
            guard out.frames.count == 1 || out.byteCount > Limits.outgoingBytes else { return (false, []) }
            drain(&out)
            if out.byteCount > Limits.outgoingBytes { out.isBroken = true }
            return (out.isBroken || !out.frames.isEmpty, out.released())
        }
        if needsServer { server?.wake() }
        for body in released { body() }
    }

    func flush() {
        let released = outgoing.withLock { out in
            drain(&out)
            return out.released()
        }
        for body in released { body() }
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
                out.isBroken = true
                out.frames = []
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
        // A bounded number of reads, so that one busy peer does not keep the others waiting.
        for _ in 0..<16 where !sawEnd {
            let count: Int
            do throws(SystemError) {
                count = try incoming.append { (memory) throws(SystemError) in try descriptor.read(into: memory) }
            } catch {
                if error.code == EAGAIN { break }
                outgoing.withLock { $0.isBroken = true }
                return
            }
            if count == 0 {
                sawEnd = true
                // What was asked before the end is not answered: nobody reads any more.
                outgoing.withLock { $0.isBroken = true }
                return
            }
            guard handOver() else { return }
            if count < 4096 { break }
        }
        if !incoming.isInsideFrame {
            frameDeadline = nil
        } else if frameDeadline == nil {
            frameDeadline = Uptime.deadline(seconds: Limits.frameSeconds)
        }
    }

    private func handOver() -> Bool {
        do throws(FrameError) {
            while let payload = try incoming.next() { receiver?.received(payload) }
            return true
        } catch {
            refuse(error)
            return false
        }
    }

    /// Answers that the format was broken and ends the connection.
    func refuse(_ error: FrameError) {
        receiver?.refused(error)
        end()
    }

    /// Ends the connection when everything that was sent has left.
    package func end() {
        sawEnd = true
        outgoing.withLock { $0.endsWhenEmpty = true }
        frameDeadline = nil
        server?.wake()
    }

    /// There are too many connections: the descriptor is closed at once.
    func refuseForLimit() { outgoing.withLock { $0.isBroken = true } }
}
