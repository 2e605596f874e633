// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import LatchkeyKit
import LatchkeySignIn
import Security

/// Measures what `DeviceCredential` adds to two bare requests and one bare signature, in turn, with a key that needs no
/// finger. usage: SignInBench ADDRESS RELYING-PARTY CODE COUNT
@main struct Main {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 5, let url = URL(string: words[1]), let count = Int(words[4]), count > 0 else { exit(64) }
        let server = try RelyingPartyServer(url: url, relyingPartyID: words[2])
        let credential = try await DeviceCredential.register(
            user: "ada", with: server, enrollmentCode: words[3],
            protection: KeychainProtection(.whenUnlockedThisDeviceOnly))
        let bare = try BareClient(credential)
        var (ours, floor): ([Duration], [Duration]) = ([], [])
        // The first ones open connections.
        for round in 0..<count + 10 {
            let first = try await ContinuousClock().measure { _ = try await credential.signIn() }
            let second = try await ContinuousClock().measure { try await bare.signIn() }
            guard round >= 10 else { continue }
            ours.append(first)
            floor.append(second)
        }
        let added = zip(ours, floor).map { $0 - $1 }
        print("sign-in by DeviceCredential   \(median(ours)) µs")
        print("bare requests and signature   \(median(floor)) µs")
        print("added, median of \(count) pairs   \(median(added)) µs (goal: 1000)")
    }

    private static func median(_ times: [Duration]) -> Int { Int(times.sorted()[times.count / 2] / .microseconds(1)) }
}

/// The least that a sign-in needs: no checks, no errors, the key looked up once.
private struct BareClient {
    private let url: URL
    private let key: SecKey
    private let user: String
    private let identifier: String
    private let prefix: Data
    private let session = URLSession(configuration: .ephemeral)

    init(_ credential: DeviceCredential) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassKey, kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            kSecReturnRef as String: true,
        ]
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let key = found as? SecKey else {
            throw CocoaError(.keyValueValidation)
        }
        self.key = key
        url = credential.server.url
        user = credential.user
        identifier = Self.encode(credential.identifier)
        prefix =
            Data("latchkey relying party 1\0".utf8) + Self.counted(Data(credential.server.relyingPartyID.utf8)) + [1]
            + Self.counted(Data(user.utf8)) + Self.counted(credential.identifier) + Self.counted(Data())
    }

    func signIn() async throws {
        let asked = try await post(
            "challenges", ["user": user, "key": identifier, "purpose": "login", "context": ""], 200)
        guard let challenge = asked["challenge"] as? String, let bytes = Self.decode(challenge) else {
            throw CocoaError(.coderReadCorrupt)
        }
        let message = prefix + Self.counted(bytes)
        let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, nil)
        guard let signature else { throw CocoaError(.coderReadCorrupt) }
        _ = try await post(
            "sessions",
            ["user": user, "key": identifier, "challenge": challenge, "signature": Self.encode(signature as Data)], 201)
    }

    private func post(_ path: String, _ body: [String: String], _ status: Int) async throws -> [String: Any] {
        var request = URLRequest(url: url.appending(path: "/v1/\(path)"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        let (data, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == status else { throw URLError(.badServerResponse) }
        return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    private static func counted(_ data: Data) -> Data {
        Data([UInt8(data.count >> 8), UInt8(data.count & 255)]) + data
    }

    private static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func decode(_ text: String) -> Data? {
        let text = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}
