// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

/// Passwords of `SecCreateSharedWebCredentialPassword`.
@Suite struct SharedCredentialTests {
    private static let kinds = ["abcdefghkmnopqrstuvwxy", "ABCDEFGHJKLMNPQRSTUVWXYZ", "3456789"].map { Set($0) }

    @Test func passwordHasApplesFormatAndEveryCharacterKind() throws {
        for _ in 0..<2000 {
            let password = try #require(SecCreateSharedWebCredentialPassword()) as String
            let groups = password.split(separator: "-", omittingEmptySubsequences: false)
            #expect(groups.map(\.count) == [3, 3, 3, 3])
            let characters = Set(groups.joined())
            #expect(characters.isSubset(of: Self.kinds.reduce([]) { $0.union($1) }))
            #expect(Self.kinds.allSatisfy { !$0.isDisjoint(with: characters) })
        }
    }

    @Test func passwordsDifferAndUseEveryCharacterAtEveryPosition() throws {
        // With 4,000 passwords a character is missing at some position by chance about once in 2^100 runs.
        let passwords = try (0..<4000).map { _ in try #require(SecCreateSharedWebCredentialPassword()) as String }
        #expect(Set(passwords).count == passwords.count)
        let places = passwords.map { Array($0.filter { $0 != "-" }) }
        for place in 0..<12 { #expect(Set(places.map { $0[place] }).count == 53) }
    }
}
