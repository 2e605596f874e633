// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing

/// A server on a loopback port that answers as a test tells it. It plays the attacker: it knows no key and verifies
/// nothing. What honest servers do is tested with `latchkey-server`, by `make test SUITE=server`.
final class AttackingServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        /// The number of the connection, and of the request on it, from 1.
        let connection: Int
        let place: Int
        let line: String
        let headers: [String: String]
        let body: Data

        /// A member of the body that is a text.
        func member(_ name: String) -> String? {
            ((try? JSONSerialization.jsonObject(with: body)) as? [String: Any])?[name] as? String
        }
    }

    /// How a request is answered.
    enum Answer: Sendable {
        /// These bytes, after which the connection ends.
        case bytes(Data)
        /// These bytes, after which the connection can be used again.
        case kept(Data)
        /// Nothing, after which the connection ends.
        case nothing
        /// Nothing, and the connection stays open.
        case silence
        /// The beginning of a reply, and then one byte after the other, without an end.
        case trickle
    }

    private let port: LoopbackPort
    private let answer: @Sendable (Request) -> Answer
    private let state = Mutex(State())

    private struct State: Sendable {
        var requests: [Request] = []
        var connections: [Int32] = []
        var accepted = 0
        var isEnding = false
    }

    /// The requests until now.
    var requests: [Request] { state.withLock { $0.requests } }

    init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        self.answer = answer
        port = try LoopbackPort()
        try #require(listen(port.socket, 8) == 0)
    }

    /// Answers requests while `body` runs.
    func run<R>(_ body: (_ url: URL) async throws -> R) async throws -> R {
        Thread.detachNewThread { [self] in accept() }
        defer { end() }
        return try await body(#require(port.url))
    }

    private func accept() {
        while true {
            let connection = Glibc.accept(port.socket, nil, nil)
            guard connection >= 0 else { return }
            let number = state.withLock { state in
                state.connections.append(connection)
                state.accepted += 1
                return state.accepted
            }
            Thread.detachNewThread { [self] in serve(connection, number) }
        }
    }

    private func end() {
        state.withLock { state in
            state.isEnding = true
            // The threads that read them end, and close them.
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
        // The thread that accepts ends, and the last of the two closes the socket.
        shutdown(port.socket, Int32(SHUT_RDWR))
    }

    private func serve(_ connection: Int32, _ number: Int) {
        defer {
            state.withLock { $0.connections.removeAll { $0 == connection } }
            close(connection)
        }
        var place = 1
        while let request = Self.read(connection, number, place) {
            state.withLock { $0.requests.append(request) }
            switch answer(request) {
            case .nothing: return
            case .bytes(let data):
                send(data, connection)
                return
            case .kept(let data):
                guard send(data, connection) else { return }
                place += 1
            case .silence:
                waitForEnd(connection, milliseconds: -1)
                return
            case .trickle:
                send(Data("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n".utf8), connection)
                while !waitForEnd(connection, milliseconds: 20), send(Data(" ".utf8), connection) {}
                return
            }
        }
    }

    /// Whether the client or the test ended the connection within the time; -1 waits without a limit.
    @discardableResult private func waitForEnd(_ connection: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    @discardableResult private func send(_ data: Data, _ connection: Int32) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func read(_ connection: Int32, _ number: Int, _ place: Int) -> Request? {
        var data = Data()
        let end = Data("\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let head = data.range(of: end) {
                let lines = String(decoding: data[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
                let headers = lines.dropFirst().reduce(into: [String: String]()) { all, line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    all[parts[0].lowercased()] = parts.last.map { $0.trimmingCharacters(in: .whitespaces) }
                }
                let length = headers["content-length"].flatMap { Int($0) } ?? 0
                let body = data[head.upperBound...]
                if body.count >= length, let line = lines.first {
                    return Request(
                        connection: number, place: place, line: String(line), headers: headers,
                        body: Data(body.prefix(length)))
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            data.append(contentsOf: buffer[..<count])
        }
    }
}

extension AttackingServer.Answer {
    /// A reply with a body in JSON.
    static func json(_ status: Int, _ body: String, headers: [String] = []) -> Self {
        let head = ["HTTP/1.1 \(status) Reply", "Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        return .bytes(Data(((head + headers + ["Connection: close", "", body]).joined(separator: "\r\n")).utf8))
    }

    /// The same reply, after which the connection can be used again; nil if there is no reply.
    var keepingConnection: Self? {
        guard case .bytes(let data) = self else { return nil }
        return .kept(Data(String(decoding: data, as: UTF8.self).replacing("Connection: close\r\n", with: "").utf8))
    }
}
