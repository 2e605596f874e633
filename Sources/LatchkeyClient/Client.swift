// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem
import Synchronization

/// One engine as a program sees it: the user's daemon, or a simulated world.
///
/// Calls block the calling thread and may be made from any thread. A connection that broke is made anew by the next
/// call; what a context had proven on the old one is gone.
package final class Client: Sendable {
    /// Seconds a call may take that waits for a person, turns of others included, or for a look at a whole store.
    private static let longSeconds: Int64 = 1800

    /// Milliseconds between two tries to be let in.
    private static let longestPause: CInt = 128

    private struct State: Sendable {
        var connection: ClientConnection?
        /// Counts connections, so that a context knows when its handle has died.
        var generation: UInt64 = 0
    }

    private let connect: @Sendable () throws(Failure) -> any ClientChannel
    private let hello: Request.Hello
    private let state = Mutex(State())

    /// What the app looks at faces for; nil when it does not say.
    package var faceUsage: String? { hello.faceUsage }

    /// A client of the engine that `connect` reaches, under the name of `application`, which looks at faces for the
    /// purpose in `faceUsage`, if at all, and has the access groups in `groups`, or the one of its name.
    package init(
        application: String, groups: [String] = [], faceUsage: String? = nil,
        connect: @escaping @Sendable () throws(Failure) -> any ClientChannel
    ) {
        hello = Request.Hello(application: application, faceUsage: faceUsage, groups: groups)
        self.connect = connect
    }

    /// A client of the user's daemon.
    package convenience init(ofDaemonFor application: String, groups: [String] = [], faceUsage: String?) {
        self.init(application: application, groups: groups, faceUsage: faceUsage) { () throws(Failure) in
            SocketChannel(try DaemonFinder.connect())
        }
    }

    /// The user's daemon, for programs without a declaration of their own.
    package static let daemon = Client(ofDaemonFor: applicationName, groups: declaredNames, faceUsage: nil)

    /// How this program names itself: the first name in `LATCHKEY_APP_ID`, or the executable's name.
    package static var applicationName: String { declaredNames.first ?? executableName }

    /// The name of this program's file.
    package static var executableName: String { Environment.executable.map(Files.name(of:)) ?? "unknown" }

    /// The names in `LATCHKEY_APP_ID`: the app's own, which is the access group of its new items, and further access groups
    /// (behaviour KC-23).
    package static var declaredNames: [String] { names(in: Environment.value("LATCHKEY_APP_ID") ?? "") }

    /// Names that are separated by commas, without the spaces around them, each once.
    package static func names(in list: String) -> [String] {
        var names: [String] = []
        for part in list.split(separator: ",") {
            let rest = part.drop { $0 == " " }
            let name = String(rest.prefix((rest.lastIndex { $0 != " " }.map { rest[...$0].count }) ?? 0))
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// Makes a call. A refusal is thrown.
    ///
    /// - Parameter part: is shown each part of an answer that comes in several and is not joined.
    package func call(
        _ request: Request, part: (Reply) -> Void = { _ in }
    ) throws(Failure) -> Reply { try callWithGeneration(request, part: part).reply }

    /// Makes a call and tells on which connection it was answered.
    package func callWithGeneration(
        _ request: Request, part: (Reply) -> Void = { _ in }
    ) throws(Failure) -> (reply: Reply, generation: UInt64) {
        var attempts = request.mayBeRepeated ? 2 : 1
        while true {
            let (connection, generation) = try connected()
            let reply: Reply
            do throws(Failure) {
                reply = try connection.call(
                    request, seconds: request.mayTakeLong ? Self.longSeconds : Limits.requestSeconds, part: part)
            } catch {
                attempts -= 1
                if error.status == .daemonUnavailable, attempts > 0 { continue }
                throw error
            }
            if case .failure(let failure) = reply { throw failure }
            return (reply, generation)
        }
    }

    /// Which connection is the current one.
    package var generation: UInt64 { state.withLock { $0.generation } }

    private func connected() throws(Failure) -> (ClientConnection, UInt64) {
        var result: Result<(ClientConnection, UInt64), Failure>?
        state.withLock { state in
            result = Result { () throws(Failure) in
                if let connection = state.connection, connection.isUsable { return (connection, state.generation) }
                let connection = try greet()
                state.generation += 1
                state.connection = connection
                return (connection, state.generation)
            }
        }
        guard let result else { throw Failure(.internalFailure, "No connection.") }
        return try result.get()
    }

    /// Connects and says hello; a daemon that ended just then is looked for once more, and one that has as many
    /// connections as it lets in, which ends every further one, less and less often.
    private func greet() throws(Failure) -> ClientConnection {
        let deadline = Uptime.deadline(seconds: Limits.startSeconds)
        var pause: CInt = 1
        while true {
            let connection = ClientConnection(try connect())
            do throws(Failure) {
                let reply = try connection.call(.hello(hello), seconds: Limits.requestSeconds)
                if case .failure(let failure) = reply { throw failure }
                return connection
            } catch {
                guard error.status == .daemonUnavailable, Uptime.nanoseconds < deadline else { throw error }
                poll(nil, 0, pause)
                pause = min(2 * pause, Self.longestPause)
            }
        }
    }
}

extension Request {
    /// Whether the answer may wait for a person, or takes the longer the larger the store is.
    fileprivate var mayTakeLong: Bool {
        switch self {
        case .evaluate, .evaluateRule, .environment(unlike: .some), .addItem, .copyItems, .updateItems, .unlock, .check,
            .createEnclaveKey, .useEnclaveKey, .restoreRows, .listItems, .listEverything, .exportItems, .importItems,
            .acceptStore,
            .discardProtected, .discardForgotten, .passcode:
            true
        case .hello, .status, .createContext, .invalidateContext, .canEvaluate, .environment, .deleteItems,
            .lock, .facePermissions, .changeFacePermission, .simulate, .transcript, .log, .describeEnclaveKey:
            false
        }
    }

    /// Whether asking twice does the same as asking once, so that a lost answer may be asked for again.
    fileprivate var mayBeRepeated: Bool {
        switch self {
        case .hello, .status, .createContext, .canEvaluate, .environment, .listItems, .listEverything, .facePermissions,
            .transcript, .lock, .log, .describeEnclaveKey:
            true
        // A context's handle belongs to the connection that broke.
        case .copyItems(let copy): copy.authentication.context == nil
        case .invalidateContext, .evaluate, .evaluateRule, .addItem, .updateItems, .deleteItems, .passcode, .unlock,
            .exportItems, .importItems, .changeFacePermission, .simulate, .check, .createEnclaveKey, .useEnclaveKey,
            .restoreRows, .acceptStore, .discardProtected, .discardForgotten:
            false
        }
    }
}
