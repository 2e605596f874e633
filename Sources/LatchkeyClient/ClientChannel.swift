// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem
import LatchkeyTransport

/// Carries frames between a client and an engine.
package protocol ClientChannel: AnyObject, Sendable {
    /// Sends a payload. Called by one thread at a time.
    func send(_ payload: SecretBytes) throws(Failure)
    /// Waits for the next payload; nil when `deadline` (`Uptime` nanoseconds) passed first. Called by one thread at a
    /// time.
    func receive(until deadline: Int64) throws(Failure) -> SecretBytes?
}

/// A channel over the daemon's socket.
package final class SocketChannel: ClientChannel, @unchecked Sendable {
    // Only accessed by `receive`, which one thread calls at a time.
    private var incoming = FrameBuffer()
    private let descriptor: Descriptor
    private let owner = getpid()

    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Whether this process made the connection: a child must not use its parent's connection after fork(2).
    var isOurs: Bool { owner == getpid() }

    package func send(_ payload: SecretBytes) throws(Failure) {
        do throws(FrameError) {
            try Frame.send(payload, to: descriptor)
        } catch {
            throw SocketChannel.failure(error)
        }
    }

    package func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        do throws(FrameError) {
            var frameDeadline: Int64?
            while true {
                if let payload = try incoming.next() { return payload }
                // An incomplete frame must be completed in time; the connection cannot be used otherwise.
                if incoming.isInsideFrame, frameDeadline == nil {
                    frameDeadline = Uptime.deadline(seconds: Limits.frameSeconds)
                }
                // One read takes all available bytes, so that a reply usually costs one poll and one read.
                guard try readMore(until: frameDeadline ?? deadline) else {
                    if frameDeadline == nil { return nil }
                    throw .timedOut
                }
            }
        } catch {
            throw SocketChannel.failure(error)
        }
    }

    /// Reads available bytes; false when the deadline passed first.
    private func readMore(until deadline: Int64) throws(FrameError) -> Bool {
        do throws(SystemError) {
            guard try descriptor.wait(for: POLLIN, until: deadline) else { return false }
            let count = try incoming.append { (memory) throws(SystemError) in try descriptor.read(into: memory) }
            if count > 0 { return true }
        } catch {
            throw .system(error)
        }
        throw .closed
    }

    private static func failure(_ error: FrameError) -> Failure {
        switch error {
        case .tooLong:
            Failure(.dataTooLarge, "The request is larger than one frame.", hint: "A secret has at most 1 MiB.")
        case .version(let version):
            Failure(
                .unsupportedVersion, "The daemon speaks version \(version) of the protocol.",
                hint: "Install the same version of library and daemon.")
        case .closed, .timedOut, .system:
            Failure(.daemonUnavailable, "The daemon ended the connection.", hint: "Try again.")
        }
    }
}
