// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The reply to one request.
struct HTTPReply: Sendable {
    let status: Int
    let body: Data
    /// The time of the server, seconds since 1970; nil if the reply has none.
    let serverTime: Int64?
    /// The seconds of `Retry-After`; nil if there are none.
    let retryAfter: Int?
}

/// Why a request has no reply.
enum HTTPFailure: Error {
    /// There was no connection, or it ended before the reply was read.
    case lost
    case timedOut
    case certificateNotTrusted
    case redirected
    case tooLarge
    case cancelled
}

/// Sends requests by `URLSession`, without cookies, cache, stored credentials and redirections, and reads replies of a
/// limited length in a limited time.
final class HTTPTransport: NSObject, Sendable {
    static let shared = HTTPTransport()

    /// Replies of the protocol have less than 1 KiB.
    static let longestReply = 16 << 10

    private let requests = Mutex<[Int: PendingRequest]>([:])

    /// The session of all requests; no reply changes it.
    private var session: URLSession { sessions.withLock { $0 ?? make(&$0) } }
    private let sessions = Mutex<URLSession?>(nil)

    private func make(_ stored: inout URLSession?) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        // The default names the program and the versions of the system.
        configuration.httpAdditionalHeaders = ["User-Agent": "LatchkeySignIn", "Accept": "application/json"]
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        stored = session
        return session
    }

    /// Sends a request on a connection of its own.
    ///
    /// libcurl sends a request again when a connection that it used before ends without a reply. The server may have
    /// accepted the first one, and then refuses the second one.
    static func sendOnce(_ request: URLRequest, timeout: Duration) async throws(HTTPFailure) -> HTTPReply {
        let transport = HTTPTransport()
        defer { transport.session.invalidateAndCancel() }
        return try await transport.send(request, timeout: timeout)
    }

    /// Sends a request, and suspends until its reply was read or `timeout` has passed.
    func send(_ request: URLRequest, timeout: Duration) async throws(HTTPFailure) -> HTTPReply {
        var request = request
        // The session's own limit begins again with each byte, so it does not end a reply that trickles.
        request.timeoutInterval = timeout / .seconds(1)
        let task = session.dataTask(with: request)
        let pending = PendingRequest()
        requests.withLock { $0[task.taskIdentifier] = pending }
        let limit = Task {
            try await Task.sleep(for: timeout)
            pending.finish(.failure(.timedOut))
            task.cancel()
        }
        let result = await withTaskCancellationHandler {
            task.resume()
            return await pending.result()
        } onCancel: {
            pending.finish(.failure(.cancelled))
            task.cancel()
        }
        limit.cancel()
        requests.withLock { $0[task.taskIdentifier] = nil }
        return try result.get()
    }

    private func pending(_ task: URLSessionTask) -> PendingRequest? { requests.withLock { $0[task.taskIdentifier] } }
}

extension HTTPTransport: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The next server could be any other, and would get the token or the signature.
        pending(task)?.finish(.failure(.redirected))
        completionHandler(nil)
        task.cancel()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let pending = pending(dataTask), !pending.append(data) else { return }
        pending.finish(.failure(.tooLarge))
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let pending = pending(task) else { return }
        if let error {
            pending.finish(.failure(HTTPFailure(error)))
        } else if let response = task.response as? HTTPURLResponse {
            pending.finish(response)
        } else {
            pending.finish(.failure(.lost))
        }
    }
}

/// A request that was sent. Its first result counts.
private final class PendingRequest: Sendable {
    private struct State: Sendable {
        var body = Data()
        var result: Result<HTTPReply, HTTPFailure>?
        var waiting: CheckedContinuation<Result<HTTPReply, HTTPFailure>, Never>?
    }

    private let state = Mutex(State())

    /// Adds a part of the body; false if the body is too long.
    func append(_ data: Data) -> Bool {
        state.withLock { state in
            guard state.body.count + data.count <= HTTPTransport.longestReply else { return false }
            state.body.append(data)
            return true
        }
    }

    func finish(_ response: HTTPURLResponse) {
        let body = state.withLock { $0.body }
        guard !(300..<400).contains(response.statusCode) else {
            finish(.failure(.redirected))
            return
        }
        finish(
            .success(
                HTTPReply(
                    status: response.statusCode, body: body,
                    serverTime: response.value(forHTTPHeaderField: "Date").flatMap(HTTPDate.seconds),
                    retryAfter: response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) })))
    }

    func finish(_ result: Result<HTTPReply, HTTPFailure>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return nil as CheckedContinuation<Result<HTTPReply, HTTPFailure>, Never>? }
            state.result = result
            return state.waiting.take()
        }
        waiting?.resume(returning: result)
    }

    func result() async -> Result<HTTPReply, HTTPFailure> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}

extension HTTPFailure {
    /// - Parameter error: an error of `URLSession`.
    init(_ error: any Error) {
        switch (error as? URLError)?.code {
        case .timedOut?: self = .timedOut
        case .serverCertificateUntrusted?, .serverCertificateHasBadDate?, .serverCertificateHasUnknownRoot?,
            .serverCertificateNotYetValid?, .secureConnectionFailed?:
            self = .certificateNotTrusted
        // FoundationNetworking of Swift 6.3 has no code for libcurl's failures of TLS, only libcurl's text. If that changes,
        // such a failure is reported as a lost connection; it is a failure in any case.
        case .unknown? where Self.isOfHandshake(error.localizedDescription): self = .certificateNotTrusted
        default: self = .lost
        }
    }

    /// Whether a text of libcurl is about TLS before the first request. The functions that it names after that are those
    /// that read and write.
    private static func isOfHandshake(_ text: String) -> Bool {
        text.contains("SSL") && !["SSL_read", "SSL_write"].contains { text.contains($0) }
    }
}

/// The proxy of the environment, which libcurl uses for the requests of each `URLSession`.
enum HTTPProxy {
    /// Whether a proxy gets requests by `http` for a host, and so reads them. One for `https` passes on what it cannot read.
    ///
    /// libcurl reads these variables (`man curl`, ENVIRONMENT; it ignores `HTTP_PROXY`). Its versions differ in how they read
    /// spaces and patterns in `no_proxy`, so an exception counts only when it is the host itself, or `*` for all hosts.
    ///
    /// - Parameters:
    ///   - host: in lower case; an address of IPv6 without brackets.
    ///   - environment: the variables.
    static func reads(requestsFor host: String, in environment: [String: String]) -> Bool {
        func value(_ names: String...) -> String? { names.compactMap { environment[$0] }.first { !$0.isEmpty } }
        guard value("http_proxy", "all_proxy", "ALL_PROXY") != nil else { return false }
        guard let exceptions = value("no_proxy", "NO_PROXY") else { return true }
        guard exceptions != "*" else { return false }
        let hosts = exceptions.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        // Some versions stop reading at a space between two hosts.
        guard !hosts.contains(where: { $0.contains(where: \.isWhitespace) }) else { return true }
        return !hosts.contains(host)
    }
}

/// The form of dates that servers send, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Seconds since 1970; nil for another form. The two obsolete forms are not read.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count == 29, parts.count == 6, parts[5] == "GMT", parts[0].hasSuffix(","),
            let day = number(parts[1], 1...31), let month = months.firstIndex(of: String(parts[2])),
            let year = number(parts[3], 1970...9999)
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
            let second = number(clock[2], 0...60)
        else { return nil }
        return days(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Days from 1 January 1970 in the Gregorian calendar. Years begin in March, so that a leap day is the last one.
    private static func days(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let monthsSinceMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthsSinceMarch + 2) / 5 + day - 1
        // 719,468 days are between 1 March of the year 0 and 1 January 1970.
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int64(text),
            range.contains(number)
        else { return nil }
        return number
    }
}
