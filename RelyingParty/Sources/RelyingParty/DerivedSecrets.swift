// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto
internal import SignInVerification

/// What is derived from the secret of the relying party, and from the one that it replaced.
struct DerivedSecrets: Sendable {
    /// The secrets; the one that is used now comes first.
    let masters: [SecretBytes]
    let challenges: ChallengeKeys
    /// The keys under which enrolment codes are stored.
    let codeKeys: [SecretBytes]
    /// The keys of user handles.
    let handleKeys: [SecretBytes]

    init(_ master: SecretBytes, _ previous: SecretBytes?, _ challenges: ChallengeKeys) throws(CryptoFailure) {
        masters = [master] + (previous.map { [$0] } ?? [])
        self.challenges = challenges
        var (codeKeys, handleKeys): ([SecretBytes], [SecretBytes]) = ([], [])
        for master in masters {
            codeKeys.append(try LibCrypto.derive(master, Array("latchkey enrolment codes 1\0".utf8)))
            handleKeys.append(try LibCrypto.derive(master, Array("latchkey user handles 1\0".utf8)))
        }
        (self.codeKeys, self.handleKeys) = (codeKeys, handleKeys)
    }
}
