// SPDX-License-Identifier: Apache-2.0

import Glibc
import RelyingPartyHTTP
import Synchronization
import Testing

@testable import latchkey_server

/// A server whose handler counts what it is asked.
struct HTTPServerTests {
    /// Sends bytes to a server and returns what it answers until it closes the connection.
    private static func exchange(
        _ text: String, limits: HTTPLimits
    ) throws -> (reply: String, reasons: [String], asked: Int) {
        let asked = Mutex(0)
        let reasons = Mutex<[String]>([])
        let (socket, port) = try ListeningAddress.loopback.listen(on: 0)
        let server = HTTPServer(
            socket: socket, limits: limits,
            handler: HTTPHandler(mayWait: { _ in true }) { _ in
                asked.withLock { $0 += 1 }
                return HTTPResponse(200, "text/plain", "answer")
            },
            refusal: { refusal in
                reasons.withLock { $0.append(refusal.reason.rawValue) }
                return HTTPResponse(refusal.status, "text/plain", "refusal")
            })
        defer { server?.stop() }
        #expect(server != nil)
        let client = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            bytes.assumingMemoryBound(to: sockaddr.self).baseAddress.map { connect(client, $0, size) == 0 } ?? false
        }
        #expect(isConnected && send(client, text, text.utf8.count, 0) == text.utf8.count)
        var (reply, part): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
        while true {
            let count = recv(client, &part, part.count, 0)
            guard count > 0 else { break }
            reply += part[..<count]
        }
        return (String(decoding: reply, as: UTF8.self), reasons.withLock(\.self), asked.withLock(\.self))
    }

    private static let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test func aRequestInTimeIsAnswered() throws {
        let (reply, reasons, asked) = try Self.exchange(Self.request, limits: HTTPLimits())
        #expect(reply.hasPrefix("HTTP/1.1 200 ") && reasons == [] && asked == 1)
    }

    @Test func aRequestWhoseTimeIsUpWhenItsTurnComesIsNotBegun() throws {
        var limits = HTTPLimits()
        // Nothing cuts off the connection here, as while the thread that does so waits for the database.
        limits.requestSeconds = 0
        let (reply, reasons, asked) = try Self.exchange(Self.request, limits: limits)
        #expect(reply.hasPrefix("HTTP/1.1 503 ") && reasons == ["over"] && asked == 0)
    }

    @Test func aRequestWithoutAPlaceInTheQueueIsRefused() throws {
        var limits = HTTPLimits()
        limits.waitingRequests = 0
        let (reply, reasons, asked) = try Self.exchange(Self.request, limits: limits)
        #expect(reply.hasPrefix("HTTP/1.1 503 ") && reasons == ["overload"] && asked == 0)
    }
}
