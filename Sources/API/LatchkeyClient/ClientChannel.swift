// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem

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

    /// The longest time of one blocking read. A wait with a later deadline needs no poll(2) before each read, which would
    /// cost every call a system call more.
    private static let readSeconds: Int64 = 1
    private let limitsReads: Bool

    package init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
        // Without the limit a read could block after its deadline, so each one is then preceded by poll(2).
        limitsReads = (try? Sockets.limitReading(descriptor, seconds: Self.readSeconds)) != nil
    }

    /// Whether this process made the connection: a child must not use its parent's connection after fork(2).
    var isOurs: Bool { owner == getpid() }

    package func send(_ payload: SecretBytes) throws(Failure) {
        do throws(FrameError) { try Frame.send(payload, to: descriptor) } catch { throw SocketChannel.failure(error) }
    }

    /// Whether a small frame is sent without waiting: most of the socket's buffer is free (unix(7)).
    var hasRoom: Bool {
        do throws(SystemError) { return try descriptor.wait(for: POLLOUT, until: 0) } catch { return false }
    }

    /// As `receive`, but does not wait longer for the rest of an incomplete frame, which the next `receive` gets.
    func receiveWhole(until deadline: Int64) throws(Failure) -> SecretBytes? {
        do throws(FrameError) {
            while true {
                if let payload = try incoming.next() { return payload }
                switch try readMore(until: deadline) {
                case nil: return nil
                case 0?: throw .closed
                default: break
                }
            }
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
                // One read takes all available bytes, so that a reply usually costs one system call.
                switch try readMore(until: frameDeadline ?? deadline) {
                case nil:
                    if frameDeadline == nil { return nil }
                    throw .timedOut
                case 0?: throw .closed
                default: break
                }
            }
        } catch {
            throw SocketChannel.failure(error)
        }
    }

    /// Reads available bytes, 0 of them at the end of the stream; nil when the deadline passed first.
    private func readMore(until deadline: Int64) throws(FrameError) -> Int? {
        do throws(SystemError) {
            if limitsReads, deadline > Uptime.deadline(seconds: Self.readSeconds), let count = try readOnce() {
                return count
            }
            while try descriptor.wait(for: POLLIN, until: deadline) {
                if let count = try readOnce() { return count }
            }
            return nil
        } catch {
            throw .system(error)
        }
    }

    /// Reads available bytes, and waits for them unless the descriptor is non-blocking; nil if there are none.
    private func readOnce() throws(SystemError) -> Int? {
        do throws(SystemError) {
            return try incoming.append { (memory) throws(SystemError) in try descriptor.read(into: memory) }
        } catch {
            guard error.code == EAGAIN else { throw error }
            return nil
        }
    }

    private static func failure(_ error: FrameError) -> Failure {
        switch error {
        case .tooLong:
            Failure(.dataTooLarge, "The request is larger than one frame.", hint: "A secret has at most 1 MiB.")
        case .version(let version):
            Failure(
                .unsupportedVersion, "The daemon speaks version \(version) of the protocol.",
                hint: "Install the same version of library and daemon.")
        case .closed, .timedOut, .system, .otherSender:
            Failure(.daemonUnavailable, "The daemon ended the connection.", hint: "Try again.")
        }
    }
}
