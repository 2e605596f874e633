// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// What a browser says about an operation of an authenticator, as JSON (WebAuthn Level 3, section 5.8.1).
package struct ClientData: Sendable {
    /// The operation.
    package enum Operation: String, Sendable {
        case registration = "webauthn.create"
        case assertion = "webauthn.get"
    }

    /// The most bytes that are read.
    package static let byteLimit = 4096

    /// The challenge that the page gave to the browser.
    package let challenge: [UInt8]
    private let type: String
    private let origin: String
    private let isOfFrame: Bool

    /// What "UTF-8 decode" removes, once (WebAuthn Level 3, section 7.1, step 5; Encoding, section 6.1).
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// Reads the JSON; unknown members are ignored, because section 5.8.1 demands it.
    package init(_ json: [UInt8]) throws(VerificationError) {
        let text = json.starts(with: Self.byteOrderMark) ? Array(json.dropFirst(Self.byteOrderMark.count)) : json
        // Every reason is the same refusal.
        guard json.count <= Self.byteLimit, let value = try? JSONReader.read(text),
            let type = value.member("type")?.text, let origin = value.member("origin")?.text,
            let challenge = value.member("challenge")?.text.flatMap({ StrictBase64.url.decode($0.utf8) })
        else { throw .clientData }
        (self.type, self.origin, self.challenge) = (type, origin, challenge)
        switch value.member("crossOrigin") {
        case nil, .bool(false): isOfFrame = value.member("topOrigin") != nil
        case .bool(true): isOfFrame = true
        default: throw .clientData
        }
    }

    /// Checks the operation and the origin. Compares bytes, because strings of Swift are equal to others that are
    /// canonically equivalent.
    package func check(_ operation: Operation, origins: Set<String>) throws(VerificationError) {
        guard type.utf8.elementsEqual(operation.rawValue.utf8) else { throw .type }
        guard !isOfFrame, origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) else { throw .origin }
    }
}
