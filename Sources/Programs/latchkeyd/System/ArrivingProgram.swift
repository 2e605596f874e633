// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import LatchkeySystem
import Synchronization

/// A connection of a program whose identity is being determined. Frames that arrive meanwhile are held in order.
final class ArrivingProgram: FrameReceiver {
    private typealias Frame = (payload: SecretBytes, held: HeldBytes)

    private let gate = Gate<Frame>()
    /// Set before the gate opens.
    private let session = Mutex<HostSession?>(nil)
    private weak let connection: FrameConnection?
    private let count: SessionCount

    init(_ connection: FrameConnection, _ count: SessionCount) {
        self.connection = connection
        self.count = count
        count.add(1)
    }

    /// Passes the held frames to the session, and later ones directly. Called once.
    func begin(_ session: HostSession) {
        self.session.withLock { $0 = session }
        if !gate.open({ session.receive($0.payload, holding: $0.held) }) {
            // It may have ended before the session was stored; the session refers to the connection, and that to this object.
            self.session.withLock { $0 = nil }
            session.close()
        }
    }

    func refuse(_ failure: Failure) {
        gate.end()
        connection?.send(HostSession.payload(of: failure))
        connection?.endAfterSending()
    }

    func received(_ payload: SecretBytes, holding held: HeldBytes) {
        switch gate.enter((payload, held), limit: Limits.requestsInFlight) {
        case .open: session.withLock { $0 }?.receive(payload, holding: held)
        case .waits, .ended: break
        case .full:
            refuse(
                Failure(
                    .limitExceeded,
                    "A program whose identity is being determined has sent \(Limits.requestsInFlight) requests, and may not "
                        + "send more."))
        }
    }

    func refused(_ error: FrameError) {
        if let failure = error.answer { connection?.send(HostSession.payload(of: failure)) }
    }

    func disconnected() {
        count.add(-1)
        let wasOpen = gate.end()
        // The session refers to the connection, which refers to this object.
        let session = session.withLock { session in
            defer { session = nil }
            return session
        }
        // Otherwise `begin` closes it.
        if wasOpen { session?.close() }
    }
}
