// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import Synchronization

extension Client {
    /// The daemon, for this command.
    static let command = DaemonConnection()
}

/// The way to the daemon. It is an app like any other and has to say what it looks at faces for.
struct DaemonConnection: Sendable {
    private let client = DaemonConnection.makeClient()

    fileprivate static func makeClient() -> Client {
        Client(
            ofDaemonFor: Client.applicationName, groups: Client.declaredNames,
            faceUsage: "Latchkey shows or changes the secrets that you name.")
    }

    /// Makes a call; while that waits for the prompt of another program, the person is told so.
    func call(_ request: Request, part: (Reply) -> Void = { _ in }) throws(Failure) -> Reply {
        let note = request.mayAsk ? WaitingNote() : nil
        defer { note?.end() }
        return try client.call(request, part: part)
    }

    /// What the daemon says of itself.
    func status() throws(Failure) -> StatusReport {
        // A secret may be typed behind this. A thread that the connection starts inherits what is held here, so that a
        // signal meanwhile goes to the thread that puts the terminal in order, and no other one ends the program.
        let signals = EndingSignals()
        defer { signals.release() }
        guard case .status(let report) = try call(.status) else {
            throw Failure(.internalFailure, "The daemon's answer is of another kind.")
        }
        return report
    }

    /// The items of this access group that a query matches, without any secret; of every group where there is no query.
    func items(_ query: ItemQuery?) throws(Failure) -> [FoundItem] {
        guard case .items(let items, _) = try call(query.map { .listItems($0) } ?? .listEverything) else {
            throw Failure(.internalFailure, "The daemon's answer is of another kind.")
        }
        return items
    }
}

extension Request {
    /// Whether a person may be asked before it is answered.
    fileprivate var mayAsk: Bool {
        switch self {
        case .evaluate, .evaluateRule, .addItem, .copyItems, .updateItems, .unlock, .passcode, .createEnclaveKey,
            .useEnclaveKey, .acceptStore, .discardProtected:
            true
        // The first page asks, the others carry bytes.
        case .exportItems(let export): export.cursor == nil
        case .importItems(let part): part.cursor == nil
        default: false
        }
    }
}

/// Tells on standard error whose prompt a call waits for, once that takes longer than a moment.
private final class WaitingNote: Sendable {
    private let hasEnded = Mutex(false)
    private static let pauseMilliseconds: CInt = 1000

    init() { Processes.detachThread { [self] in watch() } }

    func end() { hasEnded.withLock { $0 = true } }

    private func watch() {
        // A connection of its own: that of the command waits for its answer.
        let client = DaemonConnection.makeClient()
        while true {
            poll(nil, 0, Self.pauseMilliseconds)
            guard !hasEnded.withLock({ $0 }), case .status(let report)? = try? client.call(.status) else { return }
            guard let prompt = report.prompt else { continue }
            // Its own turn has come: the prompt speaks for itself.
            guard prompt.processID != getpid() else { return }
            hasEnded.withLock { hasEnded in
                guard !hasEnded else { return }
                let program = Table.shown(prompt.program)
                Output.writeError("Waiting: \(program), process \(prompt.processID), is asking first.\n")
            }
            return
        }
    }
}
