// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking

/// What URLSession must not do by itself.
private final class Strict: NSObject, URLSessionTaskDelegate {
    /// A redirection would send the credential to another address, and believe what that says.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Without this URLSession on Linux waits for ever after a credential that is refused with HTTP Basic.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}

/// The back end of an application asks latchkey-server who sends a request, and whether the user has approved an act.
struct SignIn: Sendable {
    struct Session: Decodable, Sendable {
        let active: Bool
        /// The name of the user; absent for a session that is not open.
        let sub: String?
    }

    private struct Redemption: Decodable { let valid: Bool }

    let address: String
    let authorization: String
    private let session = URLSession(configuration: .ephemeral, delegate: Strict(), delegateQueue: nil)

    init(address: String, name: String, credential: String) {
        self.address = address
        authorization = "Basic " + Data("\(name):\(credential)".utf8).base64EncodedString()
    }

    /// Throws for every reply but 200: a back end that cannot ask refuses.
    private func post<Reply: Decodable>(_ path: String, _ type: String, _ body: Data) async throws -> Reply {
        guard let url = URL(string: address + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, timeoutInterval: 5)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue(type, forHTTPHeaderField: "Content-Type")
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
        let (data, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode(Reply.self, from: data)
    }

    /// The user of the session whose token a client sent; nil if it is not open.
    func user(of token: String) async throws -> String? {
        // Only what every form contains as it is: a token has no other characters.
        let safe = token.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        guard safe.utf8.elementsEqual(token.utf8) else { return nil }
        let session: Session = try await post(
            "/v1/introspection", "application/x-www-form-urlencoded", Data("token=\(token)&use=true".utf8))
        return session.active ? session.sub : nil
    }

    /// Whether the user of the session has approved exactly this act, which the back end writes itself.
    func redeem(_ approval: String, _ token: String, act: String) async throws -> Bool {
        let body = try JSONEncoder().encode(["approval": approval, "token": token, "context": act])
        let redemption: Redemption = try await post("/v1/approvals", "application/json", body)
        return redemption.valid
    }
}

/// Reads what a request of a client would have, one line each: the token, an approval, and the act.
@main enum BackEnd {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4 else { return print("usage: BackEnd ADDRESS NAME CREDENTIAL") }
        let signIn = SignIn(address: words[1], name: words[2], credential: words[3])
        guard let token = readLine(), let user = try await signIn.user(of: token) else { return print("401") }
        guard let approval = readLine(), let act = readLine() else { return print("200 \(user)") }
        print(try await signIn.redeem(approval, token, act: act) ? "200 \(user): \(act)" : "403")
    }
}
