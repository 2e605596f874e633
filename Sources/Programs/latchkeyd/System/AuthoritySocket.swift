// SPDX-License-Identifier: Apache-2.0

import AuthorityDriver
import LatchkeyModel
import LatchkeySystem
import Synchronization

/// The connection to `latchkey-authd` over its socket, with a thread that receives frames.
enum AuthoritySocket {
    /// Seconds that a message to `latchkey-authd` may wait for room; the connection ends then.
    private static let sendSeconds: Int64 = 10

    /// Returns a function that connects to the socket, whose listener must be the user `authority`.
    ///
    /// - Parameter user: whose authority is meant. The name of the connection says so (`ServiceChannelName`).
    static func connect(_ path: String, servedBy authority: UInt32, for user: UInt32) -> AuthorityLink.Connect {
        { (received, ended) throws(Failure) in
            let descriptor = try SystemSockets.connect(
                path, servedBy: authority, name: ServiceChannelName.make(for: user), seconds: sendSeconds)
            let sender = Sender(descriptor)
            Processes.detachThread {
                // A frame that cannot be read ends the connection, as its end does.
                while let payload = try? Frame.receive(from: descriptor, until: nil), received(payload) {}
                sender.end()
                ended()
            }
            return { sender.send($0) }
        }
    }

    /// Sends frames of several threads one after the other.
    private final class Sender: Sendable {
        private let descriptor: Mutex<Descriptor?>

        init(_ descriptor: Descriptor) { self.descriptor = Mutex(descriptor) }

        /// After a failure the connection is shut down, so that the thread that receives ends it.
        func send(_ payload: SecretBytes) {
            descriptor.withLock { descriptor in
                guard let open = descriptor else { return }
                do throws(FrameError) {
                    try Frame.send(payload, to: open)
                } catch {
                    Sockets.shutDown(open)
                    descriptor = nil
                }
            }
        }

        func end() {
            descriptor.withLock { descriptor in
                if let open = descriptor { Sockets.shutDown(open) }
                descriptor = nil
            }
        }
    }
}
