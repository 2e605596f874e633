// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem
package import LatchkeyWire
import Synchronization

/// What a client can send: a request with an encoding.
package typealias DaemonRequest = ClientRequest & WireValue

/// A connection to one engine: the user's daemon, or a simulated world.
///
/// Calls block the calling thread and may be made from any thread. After a connection has broken, the next call makes
/// a new one; the proofs that contexts had obtained on the old one are lost.
package final class Client: Sendable {
    /// Timeout in seconds of a call that waits for the user, including turns of other programs, or that reads a whole
    /// store.
    private static let longSeconds: Int64 = 1800

    /// Longest back-off between two attempts to connect, in milliseconds.
    private static let longestPause: CInt = 128

    private struct State: Sendable {
        var connection: ClientConnection?
        /// Incremented with each connection, so that a context knows when its handle is no longer valid.
        var generation: UInt64 = 0
    }

    private let connect: @Sendable () throws(Failure) -> any ClientChannel
    private let hello: Request.Hello
    private let state = Mutex(State())

    /// Why the app uses the camera (Apple: `NSFaceIDUsageDescription`); nil when it does not declare a reason.
    package var faceUsage: String? { hello.faceUsage }

    /// Creates a client without connecting; the first call does.
    ///
    /// - Parameters:
    ///   - application: the app's name, which is also its access group when `groups` is empty.
    ///   - groups: the app's access groups.
    ///   - faceUsage: why the app uses the camera; nil when it does not declare a reason.
    ///   - connect: makes a connection to the engine.
    package init(
        application: String, groups: [String] = [], faceUsage: String? = nil,
        connect: @escaping @Sendable () throws(Failure) -> any ClientChannel
    ) {
        hello = Request.Hello(application: application, faceUsage: faceUsage, groups: groups)
        self.connect = connect
    }

    package convenience init(ofDaemonFor application: String, groups: [String] = [], faceUsage: String?) {
        self.init(application: application, groups: groups, faceUsage: faceUsage) { () throws(Failure) in
            SocketChannel(try DaemonFinder.connect())
        }
    }

    /// A client of the system's daemon, also for a user with a store of their own.
    ///
    /// - Parameter seconds: time limit for connecting; nil for none.
    package convenience init(
        ofSystemFor application: String, sockets: SystemSockets = .installed, seconds: Int64? = nil
    ) {
        self.init(application: application) { () throws(Failure) in
            guard let user = try sockets.storeUser() else {
                throw Failure(
                    .itemNotFound, "This machine has no system keychain: \(sockets.keychain) does not exist.",
                    hint: "Ask an administrator to install latchkeyd and latchkey-authd.")
            }
            return SocketChannel(try SystemSockets.connect(sockets.keychain, servedBy: user, seconds: seconds))
        }
    }

    /// A client of the daemon of the user's own store, also on a machine with a system keychain.
    package convenience init(ofOwnStoreFor application: String, groups: [String] = []) {
        self.init(application: application, groups: groups) { () throws(Failure) in
            SocketChannel(try DaemonFinder.connectToOwn())
        }
    }

    /// A client of the user's daemon that declares no reason for using the camera.
    package static let daemon = Client(ofDaemonFor: applicationName, groups: declaredNames, faceUsage: nil)

    /// The name of this program: the first name in `LATCHKEY_APP_ID`, or the executable's name.
    package static var applicationName: String { declaredNames.first ?? executableName }

    /// The file name of this program; "unknown" when it cannot be read.
    package static var executableName: String { Environment.executable.map(Files.name(of:)) ?? "unknown" }

    /// The names in `LATCHKEY_APP_ID`: the app's own, which is the access group of its new items, then further access
    /// groups (behaviour KC-23).
    package static var declaredNames: [String] { names(in: Environment.value("LATCHKEY_APP_ID") ?? "") }

    /// Splits a comma-separated list into names, without surrounding spaces and without duplicates.
    package static func names(in list: String) -> [String] {
        var names: [String] = []
        for part in list.parts(at: ",") {
            let rest = part.unicodeScalars.drop { $0 == " " }
            guard let last = rest.lastIndex(where: { $0 != " " }) else { continue }
            let name = String(rest[...last])
            if !names.containsBytes(of: name) { names.append(name) }
        }
        return names
    }

    /// Sends a request and waits for its reply. Throws when the reply is a failure.
    ///
    /// - Parameters:
    ///   - cancellation: with which another thread can end the call early.
    ///   - page: called with each page of the reply but the last; items come as one list.
    package func call<Call: DaemonRequest>(
        _ request: Call, cancellation: CallCancellation? = nil, page: (Call.Response) -> Void = { _ in }
    ) throws(Failure) -> Call.Response {
        try callWithGeneration(request, cancellation: cancellation, page: page).response
    }

    /// Sends a request of a thread that must not wait. It is never repeated.
    ///
    /// - Returns: nil if it could not be sent without waiting; it then was not sent.
    package func begin<Call: DaemonRequest>(_ request: Call) throws(Failure) -> BegunCall<Call>? {
        // Another thread may be connecting, with the state locked.
        guard let connection = state.withLockIfAvailable({ $0.connection }) ?? nil, connection.isUsable,
            let exchange = try connection.begin(request)
        else { return nil }
        let seconds = request.traits.contains(.mayTakeLong) ? Self.longSeconds : Limits.requestSeconds
        return BegunCall(exchange, seconds: seconds)
    }

    /// Like `call`, and also returns the generation of the connection that answered.
    package func callWithGeneration<Call: DaemonRequest>(
        _ request: Call, cancellation: CallCancellation? = nil, page: (Call.Response) -> Void = { _ in }
    ) throws(Failure) -> (response: Call.Response, generation: UInt64) {
        let traits = request.traits
        var attempts = traits.contains(.mayBeRepeated) ? 2 : 1
        while true {
            let (connection, generation) = try connected()
            let reply: Reply
            do throws(Failure) {
                let seconds = traits.contains(.mayTakeLong) ? Self.longSeconds : Limits.requestSeconds
                reply = try connection.reply(
                    to: request, seconds: seconds, cancellation: cancellation, page: page)
            } catch {
                attempts -= 1
                if error.status == .daemonUnavailable, attempts > 0 { continue }
                throw error
            }
            return (try Call.contents(of: reply), generation)
        }
    }

    /// The number of connections made so far; identifies the current one.
    package var generation: UInt64 { state.withLock { $0.generation } }

    private func connected() throws(Failure) -> (ClientConnection, UInt64) {
        try state.withLock { (state) throws(Failure) in
            if let connection = state.connection, connection.isUsable { return (connection, state.generation) }
            let connection = try greet()
            state.generation += 1
            state.connection = connection
            return (connection, state.generation)
        }
    }

    /// Connects and sends the hello request. Retries with back-off while the connection is closed without a reply, as
    /// by a daemon that is ending. A refusal because of a connection limit is thrown.
    private func greet() throws(Failure) -> ClientConnection {
        let deadline = Uptime.deadline(seconds: Limits.startSeconds)
        var pause: CInt = 1
        while true {
            let connection = ClientConnection(try connect())
            do throws(Failure) {
                try connection.greet(hello, seconds: Limits.requestSeconds)
                return connection
            } catch {
                guard error.status == .daemonUnavailable, Uptime.nanoseconds < deadline else { throw error }
                poll(nil, 0, pause)
                pause = min(2 * pause, Self.longestPause)
            }
        }
    }
}

/// A call that was sent by `Client.begin`. One thread uses it at a time, until it returns a response or throws.
package struct BegunCall<Call: DaemonRequest>: Sendable {
    private let exchange: BegunExchange
    private let seconds: Int64

    fileprivate init(_ exchange: BegunExchange, seconds: Int64) {
        (self.exchange, self.seconds) = (exchange, seconds)
    }

    /// The response, if it arrives in that time.
    package func response(milliseconds: Int64) throws(Failure) -> Call.Response? {
        guard let reply = try exchange.reply(until: Uptime.nanoseconds + milliseconds * 1_000_000) else { return nil }
        return try Call.contents(of: reply)
    }

    /// Waits for the response, as `Client.call` does.
    package func response(_ cancellation: CallCancellation) throws(Failure) -> Call.Response {
        try Call.contents(of: exchange.finish(seconds: seconds, cancellation))
    }
}
