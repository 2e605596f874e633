// SPDX-License-Identifier: Apache-2.0
// How a server verifies sign-ins with SignInVerification: a line of the input is a request as JSON, and a line of the output its
// reply. A Vapor or Hummingbird server has a route for each case, and tables in place of the dictionaries.
import Foundation
import SignInVerification

struct Refusal: Error { let reason: String }
struct Server {
    let policy = SignInPolicy(relyingPartyID: "example.com")
    let challenges: ChallengeKeys
    // What a server stores: passkeys by their credential, keys of devices by their identifier, and the nonces of challenges that
    // were used, until these expire. One transaction spends the nonce and has the effect of the request.
    var passkeys: [[UInt8]: (user: String, passkey: Passkey)] = [:]
    var keys: [[UInt8]: (user: String, key: VerificationKey, counter: Int64?)] = [:]
    var spent: [[UInt8]: Int64] = [:]
    var frozen: Set<[UInt8]> = []

    mutating func reply(to request: [String: Any], at now: Int64) throws -> [String: Any] {
        let (user, key) = (request["user"] as? String ?? "", bytes(request["key"]))
        let credential = Array(try JSONSerialization.data(withJSONObject: request["credential"] ?? [:]))
        let handle = Array("account of \(user)".utf8)  // In your server: the number of the account, never a name.
        let registration = ChallengeBinding(user: user, key: ChallengePurpose.noKey, purpose: .passkeyRegister)
        let signIn = ChallengeBinding(user: "", key: ChallengePurpose.noKey, purpose: .passkeyLogin)
        let boundSignIn = ChallengeBinding(user: user, key: key, purpose: .login)
        switch request["do"] as? String {
        case "register-challenge": return ["challenge": try issue(registration, at: now), "userHandle": text(handle)]
        case "sign-in-challenge": return ["challenge": try issue(signIn, at: now)]
        case "bound-challenge": return ["challenge": try issue(boundSignIn, at: now)]
        case "register":  // Only for a user who has proven by other means who they are.
            let response = try PasskeyRegistrationResponse(json: credential)
            let challenge = try challenges.accepted(response.challenge, for: registration, at: now)
            let passkey = try verifyPasskeyRegistration(
                response, challenge: challenge, userHandle: handle, policy: policy, at: now)
            try spend(challenge, at: now)
            guard passkeys[passkey.credential] == nil else { throw Refusal(reason: "known credential") }
            passkeys[passkey.credential] = (user, passkey)
            return ["key": text(passkey.key.identifier)]
        case "sign-in":
            let response = try PasskeyAssertionResponse(json: credential)
            let challenge = try challenges.accepted(response.challenge, for: signIn, at: now)
            guard var known = passkeys[response.credential] else { throw Refusal(reason: "unknown") }
            let verified = try verifyPasskeyAssertion(
                response, challenge: challenge, passkey: known.passkey, user: .unknown, policy: policy, at: now)
            try spend(challenge, at: now)
            try count(policy.counters.decision(for: verified, of: known.passkey), known.passkey.key)
            (known.passkey.counter, known.passkey.isBackedUp) = (verified.counter, verified.isBackedUp)
            passkeys[response.credential] = known
            return ["user": known.user]  // Open the session of your framework here.
        case "add-key":  // A key of a device; only for such a user, too.
            let key = try VerificationKey(algorithm: .es256, bytes: bytes(request["publicKey"]))
            keys[key.identifier] = (user, key, nil)
            return ["key": text(key.identifier)]
        case "bound-sign-in":
            let proof = BoundProof(
                binding: boundSignIn, challenge: bytes(request["challenge"]), signature: bytes(request["signature"]),
                counter: (request["counter"] as? NSNumber)?.int64Value)
            let challenge = try challenges.accepted(proof.challenge, for: proof.binding, at: now)
            guard let known = keys[key], known.user.utf8.elementsEqual(user.utf8) else {
                throw Refusal(reason: "unknown")
            }
            let verified = try verifyBoundProof(proof, challenge: challenge, key: known.key, policy: policy, at: now)
            try spend(challenge, at: now)
            guard verified.counter != nil || known.counter == nil else { throw Refusal(reason: "no counter") }
            try count(
                verified.counter.map { policy.counters.decision(for: $0, after: known.counter) } ?? .accept, known.key)
            keys[key] = (user, known.key, verified.counter)
            return ["user": user]
        default: throw Refusal(reason: "unknown request")
        }
    }
    func issue(_ binding: ChallengeBinding, at now: Int64) throws -> String {
        text(try challenges.issue(binding, at: now, nonce: randomBytes()))
    }
    mutating func spend(_ challenge: IssuedChallenge, at now: Int64) throws {
        spent = spent.filter { $0.value > now }
        if spent.updateValue(challenge.expiry, forKey: challenge.nonce) != nil { throw Refusal(reason: "replayed") }
    }
    mutating func count(_ decision: CounterPolicy.Decision, _ key: VerificationKey) throws {
        if frozen.contains(key.identifier) { throw Refusal(reason: "frozen") }
        // Until an operator knows that there is no copy. A database commits this and the nonce, and then refuses.
        if decision == .freeze { frozen.insert(key.identifier) }
        if decision != .accept { throw Refusal(reason: "counter \(decision)") }
    }
}
func randomBytes() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: 0...255) } }
func text(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
func bytes(_ text: Any?) -> [UInt8] {
    let text = (text as? String ?? "").replacing("-", with: "+").replacing("_", with: "/")
    return Array(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)) ?? Data())
}
let secret = randomBytes()  // Stored, so that it is the same after a restart.
var server = Server(challenges: try ChallengeKeys(secrets: [secret], relyingPartyID: "example.com"))
while let line = readLine() {
    let request = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
    var reply: [String: Any] = [:]
    do { reply = try server.reply(to: request, at: Int64(Date().timeIntervalSince1970)) } catch {
        reply = ["refused": (error as? Refusal)?.reason ?? "\(error)"]  // For the log: clients get one reply for all.
    }
    print(String(decoding: try JSONSerialization.data(withJSONObject: reply), as: UTF8.self))
    fflush(nil)
}
