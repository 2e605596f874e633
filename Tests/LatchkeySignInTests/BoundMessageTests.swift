// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LatchkeySignIn

/// The vectors that the server's tests read too; a program in Python computed them from the document.
enum ChallengeVectors {
    static func read() throws -> [String: [UInt8]] {
        let text = try String(contentsOf: Repository.vectors("challenge.tsv"), encoding: .utf8)
        return try text.split(separator: "\n").reduce(into: [:]) { all, line in
            let parts = line.split(separator: "\t")
            try #require(parts.count == 2)
            all[String(parts[0])] = try hex(parts[1])
        }
    }

    /// The messages of the vectors.
    static let messages: [BoundMessage] = [
        message(.login, ""), message(.stepUp, "pay 20 EUR"), message(.register, ""), message(.rotate, "k"),
        message(.revoke, "user"),
    ]

    static func message(_ purpose: BoundMessage.Purpose, _ context: String) -> BoundMessage {
        BoundMessage(
            relyingPartyID: "example.com", user: "Jürgen", key: Array(100..<132), purpose: purpose, context: context)
    }

    /// The time at which the challenges of the vectors were issued.
    static let issued: Int64 = 1_800_003_599
}

@Suite struct BoundMessageTests {
    @Test(arguments: ChallengeVectors.messages) func messageIsThatOfTheVectors(message: BoundMessage) throws {
        let vectors = try ChallengeVectors.read()
        let challenge = try #require(vectors["\(message.purpose.name)-challenge"])
        #expect(message.bytes(challenge) == vectors["\(message.purpose.name)-message"])
    }

    @Test(arguments: ChallengeVectors.messages) func challengeOfTheVectorsIsAccepted(message: BoundMessage) throws {
        let challenge = try #require(ChallengeVectors.read()["\(message.purpose.name)-challenge"])
        let issued = ChallengeVectors.issued
        for (now, serverTime) in [(issued, nil), (issued, issued), (issued + 59, issued + 59), (issued - 290, issued)] {
            #expect(try ServerChallenge(challenge, for: message, at: now, serverTime: serverTime).bytes == challenge)
        }
    }

    @Test func everyPartChangesTheMessage() throws {
        let one = BoundMessage(relyingPartyID: "a.b", user: "c", key: [1], purpose: .stepUp, context: "d")
        let others = [
            BoundMessage(relyingPartyID: "a.bc", user: "", key: [1], purpose: .stepUp, context: "d"),
            BoundMessage(relyingPartyID: "a.b", user: "cd", key: [1], purpose: .stepUp, context: ""),
            BoundMessage(relyingPartyID: "a.b", user: "c", key: [2], purpose: .stepUp, context: "d"),
            BoundMessage(relyingPartyID: "a.b", user: "c", key: [1], purpose: .revoke, context: "d"),
            BoundMessage(relyingPartyID: "a.b", user: "c", key: [1], purpose: .stepUp, context: "e"),
        ]
        #expect(Set((others + [one]).map { $0.bytes([7]) }).count == 6)
    }
}
