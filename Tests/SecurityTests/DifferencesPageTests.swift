// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LocalAuthentication
import TestSupport
import Testing

/// docs/reference/compatibility.md has each row in one line and lists every unsupported family of symbols.
@Suite struct DifferencesPageTests {
    private let lines: [Substring]

    init() throws {
        lines = try String(contentsOf: Repository.document("reference", "compatibility.md"), encoding: .utf8).split(
            separator: "\n")
    }

    @Test func everyRowIsOneLine() {
        for line in lines where line.hasPrefix("|") {
            #expect(!line.hasPrefix("|  ") && line.hasSuffix("|"), "\(line)")
        }
    }

    @Test(arguments: [
        "SecCode", "SecTask", "Authorization", "CMSEncoder", "SecTransform", "SSL", "kSecOID", "SecTrust",
    ])
    func everyUnsupportedFamilyHasARow(family: String) throws {
        let start = try #require(lines.firstIndex(of: "## Not here"))
        #expect(lines[start...].contains { $0.hasPrefix("| `\(family)...`") || $0.contains("`\(family)...`") })
    }

    // MARK: - Codes

    /// What each row of "Codes" speaks of; a row with several codes has as many lists.
    private static let codes: [(String, [[Status]])] = [
        ("cancelled by the user", [[.userCancel]]),
        ("a prompt is not allowed or not possible", [[.notInteractive, .interactionNotAllowed]]),
        (
            "any other refusal of an evaluation (LA-42)",
            [
                [
                    .authenticationFailed, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
                    .biometryNotEnrolled, .biometryLockout, .invalidContext, .companionNotAvailable,
                    .biometryNotPaired, .biometryDisconnected, .invalidDimensions,
                ]
            ]
        ),
        ("`invalidate()` while an item is read or a key is used (LA-42)", [[.appCancel]]),
        ("daemon unreachable, no home folder", [[.daemonUnavailable, .noHome]]),
        ("no reply within the deadline", [[.timedOut]]),
        (
            "store unreadable, of another tier, of another user or of an earlier account with the same number; anchor "
                + "missing",
            [[.storeUnreadable, .storeOfAnotherTier, .storeOfAnotherUser, .storeOfEarlierAccount, .anchorMissing]]
        ),
        (
            "database or anchor restored from a backup; a security event not completely written",
            [[.storeRolledBack, .anchorOld, .eventUnfinished]]
        ),
        (
            "store of an older or newer version; protocol of another version",
            [[.storeOlder, .storeNewer, .unsupportedVersion]]
        ),
        ("store read-only / disk full", [[.storeReadOnly], [.diskFull]]),
        (
            "malformed request / limit reached / internal failure",
            [[.malformedRequest], [.limitExceeded], [.internalFailure]]
        ),
    ]

    /// The cells of each row of "Codes".
    private func codeRows() throws -> [[String]] {
        let start = try #require(lines.firstIndex(of: "## Codes"))
        return lines[start...].drop { !$0.hasPrefix("| ---") }.dropFirst().prefix { $0.first == "|" }.map {
            $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func everyRowOfTheCodesSaysWhatTheTranslationsReturn_LA42() throws {
        let rows = try codeRows()
        #expect(rows.map { $0[0] } == Self.codes.map(\.0))
        for (row, (words, parts)) in zip(rows, Self.codes) {
            let numbers = row[1].split(separator: "/").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(numbers.count == parts.count, "\(words)")
            for (number, statuses) in zip(numbers, parts) {
                for status in statuses {
                    #expect("\(status.osStatus)" == number, "\(words): \(status)")
                    let own = row[2] == "its own code" ? "\(status)" : row[2]
                    #expect("\(status.localAuthenticationCode)" == own, "\(words): \(status)")
                }
            }
        }
    }
}
