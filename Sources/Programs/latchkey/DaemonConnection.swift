// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem
import SSHAgent
import Synchronization

extension Client {
    static let command = DaemonConnection()
}

/// The connection to the daemon. Like any app, the command declares its reason for Face ID.
struct DaemonConnection: Sendable, RequestCaller {
    private let client: Client

    /// A connection to the daemon that programs of this user have.
    init(_ client: Client = DaemonConnection.makeClient()) { self.client = client }

    static func makeClient() -> Client {
        Client(
            ofDaemonFor: Client.applicationName, groups: Client.declaredNames,
            faceUsage: localized("Latchkey shows or changes the secrets that you name."))
    }

    /// Makes a call. While it waits for another program's prompt, a line on standard error says so.
    func call<Call: DaemonRequest>(_ request: Call) throws(Failure) -> Call.Response { try call(request) { _ in } }

    /// Like `call(_:)`, and passes each page of the reply but the last to `page`.
    func call<Call: DaemonRequest>(_ request: Call, page: (Call.Response) -> Void) throws(Failure) -> Call.Response {
        let note = request.traits.contains(.mayAsk) ? WaitingNote() : nil
        defer { note?.end() }
        do throws(Failure) { return try client.call(request, page: page) } catch { throw Self.explained(error) }
    }

    /// The failure, with a reason that only this process knows: no prompt is shown on the terminal of another user, where a
    /// shell of su(1) runs.
    private static func explained(_ failure: Failure) -> Failure {
        guard failure.status == .notInteractive, case let session = SessionFacts(), !session.ownsTerminal,
            let terminal = session.terminal
        else { return failure }
        return Failure(
            .notInteractive,
            "No prompt can be shown here: \(terminal) belongs to another user, who would see it, as after su.",
            hint: "Take a terminal of your own, with: script -q /dev/null")
    }

    func status() throws(Failure) -> StatusReport {
        // The user may type a secret afterwards. A thread that the connection starts inherits the signals blocked here,
        // so that a later signal reaches the thread that restores the terminal and does not end the program elsewhere.
        let signals = EndingSignals()
        defer { signals.release() }
        return try call(Request.Status())
    }

    /// The items of the command's access groups that match the query, without secrets; without a query, the items of every group.
    func items(_ query: ItemQuery?) throws(Failure) -> [FoundItem] {
        if let query { try call(Request.ListItems(query)) } else { try call(Request.ListEverything()) }
    }

    /// The items of every group, without secrets. A daemon that separates the programs of a user asks the user first.
    func itemsOfEveryApp() throws(Failure) -> [FoundItem] {
        switch try status().tier {
        case .user, .simulated: try call(Request.ListEverything())
        case .file, .tpm: try call(Request.ListNames())
        }
    }
}

/// Writes on standard error which program's prompt a call waits for, after one second.
private final class WaitingNote: Sendable {
    private let hasEnded = Mutex(false)
    private static let pauseMilliseconds: CInt = 1000

    init() { Processes.detachThread { [self] in watch() } }

    func end() { hasEnded.withLock { $0 = true } }

    private func watch() {
        // A second connection: that of the command is waiting for its reply.
        let client = DaemonConnection.makeClient()
        while true {
            poll(nil, 0, Self.pauseMilliseconds)
            guard !hasEnded.withLock({ $0 }), let report = try? client.call(Request.Status()) else { return }
            // The prompt of this process is shown now and needs no explanation.
            guard !report.prompts.contains(where: { $0.processID == getpid() }) else { return }
            guard let prompt = report.prompts.first(where: { $0.session == report.session }) else { continue }
            hasEnded.withLock { hasEnded in
                guard !hasEnded else { return }
                let program = prompt.program.withoutControls
                Output.writeError(
                    localized("Waiting: \(program), process \(prompt.processID), is asking first.") + "\n")
            }
            return
        }
    }
}

extension Client {
    /// The connection to the daemon for keys for SSH, which have an access group of their own where programs name their
    /// groups themselves.
    static let ssh = DaemonConnection(
        Client(
            ofDaemonFor: SSHKeyMark.application, groups: [SSHKeyMark.application],
            faceUsage: localized("Latchkey makes or deletes the key for SSH that you name.")))
}

extension SSHKeyMark {
    /// The query for the keys for SSH of this name; for all of them if it is nil.
    static func query(named name: String?) -> ItemQuery {
        var query = query
        if let name { query.attributes[.applicationTag] = .data(Array(name.utf8)) }
        return query
    }
}
