// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyFormats
import Synchronization

@testable import LatchkeySignIn

/// The answers of an attacker who accepts everything, and lies when told to.
final class Acceptor: Sendable {
    /// A challenge that no honest server sends.
    enum Lie: CaseIterable, Sendable {
        case relyingParty, user, key, purpose, context, stale, future, long, clockAhead, clockBehind, short

        var kind: SignInError.Kind {
            switch self {
            case .relyingParty: .otherRelyingParty
            case .user, .key, .purpose, .context: .foreignChallenge
            case .stale, .future, .long: .staleChallenge
            case .clockAhead: .clockDiffers(minutes: -60)
            case .clockBehind: .clockDiffers(minutes: 60)
            case .short: .unexpectedReply
            }
        }
    }

    private struct State: Sendable {
        var lie: Lie?
        var answers: [String: AttackingServer.Answer] = [:]
        var actions: [String: @Sendable () -> Void] = [:]
        var revoked: String?
    }

    static let token = Base64.url.encode([UInt8](repeating: 0xa7, count: 32))
    private let state = Mutex(State())

    var lie: Lie? {
        get { state.withLock { $0.lie } }
        set { state.withLock { $0.lie = newValue } }
    }
    /// The answers to requests for these paths. The others are accepted.
    var answers: [String: AttackingServer.Answer] {
        get { state.withLock { $0.answers } }
        set { state.withLock { $0.answers = newValue } }
    }
    /// What happens before a request for one of these paths is answered.
    var actions: [String: @Sendable () -> Void] {
        get { state.withLock { $0.actions } }
        set { state.withLock { $0.actions = newValue } }
    }
    /// The key whose sign-in is refused.
    var revoked: String? {
        get { state.withLock { $0.revoked } }
        set { state.withLock { $0.revoked = newValue } }
    }

    @Sendable func answer(_ request: AttackingServer.Request) -> AttackingServer.Answer {
        let path = String(request.line.split(separator: " ")[1])
        actions[path]?()
        if let answer = answers[path] { return answer }
        let key = request.member("key") ?? ""
        switch path {
        case "/v1/challenges": return challenge(request)
        case "/v1/keys": return .json(201, "{\"key\":\"\(key)\",\"proven\":{},\"claimed\":{}}")
        case "/v1/rotations": return .json(201, "{\"key\":\"\(newKey(request))\"}")
        case "/v1/sessions":
            guard revoked != key else { return .json(401, "{}") }
            return .json(201, "{\"token\":\"\(Self.token)\",\"expires\":\(Int(Date().timeIntervalSince1970) + 600)}")
        case "/v1/step-ups":
            let context = request.member("context") ?? ""
            return .json(200, "{\"user\":\"ada\",\"key\":\"\(key)\",\"context\":\"\(context)\"}")
        case "/v1/revocations": return .json(200, "{\"revokedKeys\":1}")
        default: return .json(204, "")
        }
    }

    private func newKey(_ request: AttackingServer.Request) -> String {
        let body = (try? JSONSerialization.jsonObject(with: request.body)) as? [String: Any]
        let value = (body?["publicKey"] as? [String: Any])?["value"] as? String ?? ""
        return (try? Digest.sha256(Base64.url.decode(value.utf8) ?? [])).map { Base64.url.encode($0) } ?? ""
    }

    private func challenge(_ request: AttackingServer.Request) -> AttackingServer.Answer {
        let purposes: [BoundMessage.Purpose] = [.login, .stepUp, .register, .rotate, .revoke]
        let purpose = purposes.first { $0.name == request.member("purpose") } ?? .login
        let lie = lie
        let message = BoundMessage(
            relyingPartyID: lie == .relyingParty ? "example.org" : "localhost",
            user: lie == .user ? "eve" : request.member("user") ?? "",
            key: lie == .key ? Array(0..<32) : Base64.url.decode((request.member("key") ?? "").utf8) ?? [],
            purpose: lie == .purpose ? .revoke : purpose,
            context: lie == .context ? "everything" : request.member("context") ?? "")
        var now = Int64(Date().timeIntervalSince1970)
        if lie == .clockAhead { now += 3600 }
        if lie == .clockBehind { now -= 3600 }
        let issued = lie == .stale ? now - 3600 : lie == .future ? now + 3600 : now
        let expiry = lie == .long ? issued + 86_400 : issued + 60
        var bytes: [UInt8] = [1]
        bytes += (try? message.relyingPartyDigest()) ?? []
        bytes += (try? message.bindingDigest()) ?? []
        for number in [issued, expiry] { bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
        bytes += [UInt8](repeating: 9, count: lie == .short ? 32 : 64)
        return .json(
            200, "{\"challenge\":\"\(Base64.url.encode(bytes))\"}", headers: ["Date: \(Self.date(now))"])
    }

    private static func date(_ seconds: Int64) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
    }
}
