// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport

/// Carries frames between a client and an engine.
package protocol ClientChannel: AnyObject, Sendable {
    /// Sends a payload. Called by one thread at a time.
    func send(_ payload: SecretBytes) throws(Failure)
    /// Waits for the next payload; nil when `deadline` (boot clock) passes first. Called by one thread at a time.
    func receive(until deadline: Int64) throws(Failure) -> SecretBytes?
}

/// A channel over the daemon's socket.
final class SocketChannel: ClientChannel {
    private let descriptor: Descriptor
    private let owner = getpid()

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Whether this process made it: after a fork the child must not speak on its parent's connection.
    var isOurs: Bool { owner == getpid() }

    func send(_ payload: SecretBytes) throws(Failure) {
        do throws(FrameError) {
            try Frame.send(payload, to: descriptor)
        } catch {
            throw SocketChannel.failure(error)
        }
    }

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        do throws(SystemError) {
            guard try descriptor.wait(for: POLLIN, until: deadline) else { return nil }
        } catch {
            throw Failure(.daemonUnavailable, "The connection to the daemon failed: \(error.description).")
        }
        do throws(FrameError) {
            // A frame that has begun comes whole or the connection is useless.
            return try Frame.receive(from: descriptor, until: Uptime.deadline(seconds: Limits.frameSeconds))
        } catch {
            throw SocketChannel.failure(error)
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
        case .closed, .timedOut, .system:
            Failure(.daemonUnavailable, "The daemon ended the connection.", hint: "Try again.")
        }
    }
}
