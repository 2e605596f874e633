// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import LatchkeySystem
import Synchronization

/// A connection of a program whose identity is being determined. Frames that arrive meanwhile are kept in order.
final class ArrivingProgram: FrameReceiver {
    private typealias Frame = (payload: SecretBytes, held: HeldBytes)

    private enum Phase: Sendable {
        case waiting
        case serving(HostSession)
        case over
    }
    private struct State: Sendable {
        var phase = Phase.waiting
        /// What arrived in the phase `waiting`.
        var frames: [Frame] = []
    }
    private let state = Mutex(State())
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
            let frames: [Frame]? = state.withLock { state in
                guard case .waiting = state.phase else { return nil }
                if state.frames.isEmpty { state.phase = .serving(session) }
                defer { state.frames = [] }
                return state.frames
            }
            guard let frames else { return session.close() }
            if frames.isEmpty { return }
            for frame in frames { session.receive(frame.payload, holding: frame.held) }
        }
    }

    func refuse(_ failure: Failure) {
        state.withLock { $0 = State(phase: .over) }
        connection?.send(HostSession.payload(of: failure))
        connection?.endAfterSending()
    }

    func received(_ payload: SecretBytes, holding held: HeldBytes) {
        let (session, isTooMany): (HostSession?, Bool) = state.withLock { state in
            switch state.phase {
            case .waiting where state.frames.count == Limits.requestsInFlight: return (nil, true)
            case .waiting:
                state.frames.append((payload, held))
                return (nil, false)
            case .serving(let session): return (session, false)
            case .over: return (nil, false)
            }
        }
        if isTooMany {
            refuse(
                Failure(
                    .limitExceeded,
                    "A program whose identity is being determined has sent \(Limits.requestsInFlight) requests, and may not "
                        + "send more."))
        }
        session?.receive(payload, holding: held)
    }

    func refused(_ error: FrameError) {
        if let failure = error.answer { connection?.send(HostSession.payload(of: failure)) }
    }

    func disconnected() {
        count.add(-1)
        let phase = state.withLock { state in
            defer { state = State(phase: .over) }
            return state.phase
        }
        if case .serving(let session) = phase { session.close() }
    }
}
