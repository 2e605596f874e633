// SPDX-License-Identifier: Apache-2.0

import LatchkeyHost
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport
import Synchronization

/// A connection of a program whose identity is being determined. Frames that arrive meanwhile are kept in order.
final class ArrivingProgram: FrameReceiver {
    private typealias Frame = (payload: SecretBytes, held: HeldBytes)

    private enum Phase: Sendable {
        case waiting([Frame])
        case serving(HostSession)
        case over
    }
    private let phase = Mutex(Phase.waiting([]))
    private weak let connection: FrameConnection?
    private let count: SessionCount

    init(_ connection: FrameConnection, _ count: SessionCount) {
        self.connection = connection
        self.count = count
        count.add(1)
    }

    /// Passes the kept frames to the session, and later ones directly. Called once.
    func begin(_ session: HostSession) {
        while true {
            let frames: [Frame]? = phase.withLock { phase in
                guard case .waiting(let frames) = phase else { return nil }
                phase = frames.isEmpty ? .serving(session) : .waiting([])
                return frames
            }
            guard let frames else { return session.close() }
            if frames.isEmpty { return }
            for frame in frames { session.receive(frame.payload, holding: frame.held) }
        }
    }

    /// Refuses the connection with a failure.
    func refuse(_ failure: Failure) {
        phase.withLock { $0 = .over }
        connection?.send(HostSession.payload(of: failure))
        connection?.endAfterSending()
    }

    func received(_ payload: SecretBytes, holding held: HeldBytes) {
        let session: HostSession? = phase.withLock { phase in
            switch phase {
            case .waiting(let frames):
                phase = .waiting(frames + [(payload, held)])
                return nil
            case .serving(let session): return session
            case .over: return nil
            }
        }
        session?.receive(payload, holding: held)
    }

    func refused(_ error: FrameError) {
        switch error {
        case .version(let version):
            connection?.send(
                HostSession.payload(
                    of: Failure(
                        .unsupportedVersion,
                        "This daemon speaks version \(Limits.wireVersion) of the protocol, not \(version).",
                        hint: "Install the same version of library and daemon.")))
        case .tooLong(let count):
            connection?.send(
                HostSession.payload(
                    of: Failure(.limitExceeded, "A frame has at most \(Limits.frameBytes) bytes, not \(count).")))
        case .timedOut:
            connection?.send(HostSession.payload(of: Failure(.timedOut, "A frame did not arrive in time.")))
        case .closed, .system: break
        }
    }

    func disconnected() {
        count.add(-1)
        let session: HostSession? = phase.withLock { phase in
            defer { phase = .over }
            if case .serving(let session) = phase { return session }
            return nil
        }
        session?.close()
    }
}
