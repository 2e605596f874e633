// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKit
import Security
import Testing

@testable import LatchkeySignIn

/// The words of each failure.
@Suite struct SignInErrorTests {
    static let kinds: [SignInError.Kind] =
        [
            .alreadyRegistered, .keyNotFound, .sessionNotUsable, .offline, .tooSlow, .certificateNotTrusted,
            .redirected,
            .unexpectedReply, .otherRelyingParty, .foreignChallenge, .staleChallenge, .clockDiffers(minutes: 60),
            .clockDiffers(minutes: -1), .tooManyTries(seconds: nil), .tooManyTries(seconds: 9), .serverNotAvailable,
            .cancelled, .enrollmentChanged, .passcodeNotSet, .biometryNotEnrolled, .biometryLockedOut,
            .biometryNotAvailable, .notAuthenticated, .keychain,
        ] + SignInError.ServerPart.allCases.map { .invalidServer($0) }
        + SignInError.Argument.allCases.map { .invalidArgument($0) }
        + SignInError.Request.allCases.flatMap { [.refused($0), .outcomeUnknown($0)] }

    @Test(arguments: kinds) func everyKindHasSentences(kind: SignInError.Kind) throws {
        let error = SignInError(kind)
        let sentence = try #require(error.errorDescription)
        #expect(sentence.first?.isUppercase == true && sentence.hasSuffix("."))
        #expect(error.localizedDescription == sentence, "what an alert shows")
        if let advice = error.recoverySuggestion {
            #expect(advice.first?.isUppercase == true && advice.hasSuffix("."))
        } else {
            #expect([.cancelled, .refused(.signOut)].contains(kind), "only these need nothing")
        }
        for jargon in ["nil", "Optional", "HTTP", "JSON", "challenge", "401"] { #expect(!sentence.contains(jargon)) }
    }

    @Test func sentencesDiffer() {
        // Those of the user and the machine have the words of the system.
        let sentences = Self.kinds.map { SignInError($0) }.map {
            ($0.errorDescription ?? "") + ($0.recoverySuggestion ?? "")
        }
        #expect(Set(sentences).count == sentences.count)
    }

    @Test func clocksAreDescribedByDirection() {
        #expect(
            SignInError(.clockDiffers(minutes: 60)).errorDescription
                == "The clock of this device is 60 minutes ahead of the server's.")
        #expect(
            SignInError(.clockDiffers(minutes: -1)).errorDescription
                == "The clock of this device is 1 minute behind the server's.")
    }

    @Test func theKeychainsErrorIsKept() {
        let underlying = KeychainError(status: errSecInteractionNotAllowed)
        let error = SignInError(.notAuthenticated, underlying: underlying)
        #expect(error.underlying?.status == errSecInteractionNotAllowed)
        #expect(error.errorDescription == underlying.message)
        #expect(error == SignInError(.notAuthenticated), "the reason does not distinguish errors")
    }
}
