// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the requests to a relying party; `scripts/fuzz 60 server` runs it. The tests of RelyingParty
// check the same property for the corpus.

import RelyingParty
import RelyingPartyAPI
import RelyingPartyAdmin
import RelyingPartyAttestation
import RelyingPartyCrypto
import RelyingPartyHTTP
import RelyingPartyJSON
import RelyingPartySQLite
import SignInVerification
import Synchronization

/// A server on an empty database, at a time that does not pass. Only the limits of clients see one that does.
///
/// No key is registered, so every proof is refused, whatever it contains, and stores nothing.
final class FuzzedServer: Sendable {
    static let shared = FuzzedServer()
    private let interface: Interface
    private let administration: Administration
    private let storage: Storage
    private static let paths = [
        "/v1/challenges", "/v1/keys", "/v1/sessions", "/v1/rotations", "/v1/revocations", "/v1/step-ups",
        "/v1/attestations", "/v1/passkeys/challenges", "/v1/passkeys", "/v1/passkeys/sessions",
    ]
    /// The first bytes of requests to these paths.
    private static let firstOther: UInt8 = 100
    private static let others =
        ["/v1/browser-codes"] + Administration.paths.filter { $0.hasPrefix("/admin/api/") }.sorted()

    private init() {
        do {
            var secret = [UInt8](0..<32)
            let master = SecretBytes(taking: &secret)
            let challenges = try ChallengeKeys(
                masters: [master], relyingPartyID: "example.com", seconds: 60, notBefore: 0)
            storage = Storage(try SQLiteDatabase(":memory:"))
            var policy = RelyingPartyPolicy(relyingPartyID: "example.com", permitsPasskeys: true)
            policy.permitsAdministration = true
            let service = try RelyingPartyService(
                policy: policy, master: master, challenges: challenges,
                storage: storage, clock: { 1_800_000_000 }, random: { [UInt8](repeating: 7, count: $0) },
                verifier: try TPMAttestation(roots: [], relyingPartyID: "example.com"))
            let time = PassingTime()
            interface = Interface(
                service, limits: RateLimits { time.add(1000) })
            administration = Administration(interface, origins: service.origins)
        } catch {
            fatalError("the server does not start: \(error)")
        }
    }

    /// The path of a request that is one of the administration, or of `/v1/browser-codes`.
    private static func otherPath(_ choice: UInt8) -> String? {
        guard choice >= firstOther, choice < 128 else { return nil }
        return others[Int(choice - firstOther) % others.count]
    }

    /// A request of a browser: lines of the cookie, the origin and the header `Sec-Fetch-Site`, and then the body. Empty
    /// lines stand for the values that the page of this server has.
    private static func browserRequest(_ path: String, _ rest: [UInt8]) -> HTTPRequest {
        let parts = rest.split(separator: 0x0a, maxSplits: 3, omittingEmptySubsequences: false)
        let lines = parts.prefix(3).map { String(decoding: $0, as: UTF8.self) } + ["", "", ""]
        var browser = BrowserHeaders()
        browser.cookie = lines[0].isEmpty ? nil : lines[0]
        browser.origin = lines[1].isEmpty ? "https://example.com" : lines[1]
        browser.fetchSite = lines[2].isEmpty ? nil : lines[2]
        browser.marker = "1"
        return HTTPRequest(
            method: "POST", path: path, contentType: "application/json",
            authorization: "Bearer " + String(repeating: "A", count: 43), browser: browser,
            body: parts.count > 3 ? Array(parts[3]) : [])
    }

    /// Sends one request. The first byte chooses the path, and whether the rest is the body, the token or the header of the
    /// proxy.
    func respond(to input: [UInt8]) -> HTTPResponse? {
        guard let choice = input.first else { return nil }
        if let path = Self.otherPath(choice) {
            let request = Self.browserRequest(path, Array(input.dropFirst()))
            return Administration.handles(path) ? administration.respond(to: request) : interface.respond(to: request)
        }
        let (path, rest) = (Self.paths[Int(choice) % Self.paths.count], Array(input.dropFirst()))
        let text = String(decoding: rest, as: UTF8.self)
        let request =
            switch choice / 64 {
            case 0, 1:
                HTTPRequest(
                    method: "POST", path: path, contentType: "application/json",
                    authorization: "Bearer " + String(repeating: "A", count: 43), body: rest)
            case 2:
                HTTPRequest(
                    method: "GET", path: "/v1/session", contentType: nil, authorization: "Bearer " + text, body: [])
            default:
                HTTPRequest(
                    method: "DELETE", path: "/v1/session", contentType: nil, authorization: nil,
                    forwardedFor: text.split(separator: "\n").map { String($0) }, peer: [127, 0, 0, 1], body: [])
            }
        return interface.respond(to: request)
    }

    /// Sends one request and describes how its reply violates the property; nil when it does not.
    func complaint(about input: [UInt8]) -> String? {
        guard let choice = input.first, let response = respond(to: input) else { return nil }
        let (path, rest) = (Self.paths[Int(choice) % Self.paths.count], Array(input.dropFirst()))
        var permitted: Set<UInt32> = [400, 401, 429]
        if let other = Self.otherPath(choice) {
            // No user is an administrator; a browser without a session can sign out.
            permitted.formUnion(other.hasSuffix("/sign-out") ? [204, 403] : [403])
        } else if path.hasSuffix("/challenges") || choice >= 128 {
            permitted.formUnion([200, 204])
        }
        guard permitted.contains(response.status) else { return "status \(response.status): \(response.reason)" }
        guard response.status == 204 || (try? JSONReader.read(Array(response.body.utf8))) != nil else {
            return "the reply is not JSON: \(response.body.debugDescription)"
        }
        if let value = try? JSONReader.read(rest), (try? JSONReader.read(Array(value.encoded.utf8))) != value {
            return "JSON is not the same after it was written and read"
        }
        for table in ["sessions", "users", "audit", "epochs", "passkeys", "administrators", "browser_codes"] {
            guard let rows = try? storage.read("SELECT 1 FROM \(table) LIMIT 1", []), rows.isEmpty else {
                return "a row of \(table) was stored"
            }
        }
        // These have a row that no user has.
        for table in ["keys", "codes"] {
            guard let rows = try? storage.read("SELECT 1 FROM \(table) WHERE user <> '' LIMIT 1", []), rows.isEmpty
            else { return "a row of \(table) was stored" }
        }
        return nil
    }
}

/// A monotonic time that each look moves on.
private final class PassingTime: Sendable {
    private let nanoseconds = Mutex<Int64>(0)

    func add(_ seconds: Int64) -> Int64 {
        nanoseconds.withLock { time in
            time += seconds * 1_000_000_000
            return time
        }
    }
}
