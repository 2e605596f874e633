// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// What is derived from the secret of the relying party, and from the one that it replaced.
struct DerivedSecrets: Sendable {
    /// The secrets; the one that is used now comes first.
    let masters: [SecretBytes]
    let challenges: ChallengeKeys
    /// The keys under which enrolment codes are stored.
    let codeKeys: [SecretBytes]

    init(_ master: SecretBytes, _ previous: SecretBytes?, _ challenges: ChallengeKeys) throws(CryptoFailure) {
        masters = [master] + (previous.map { [$0] } ?? [])
        self.challenges = challenges
        var keys: [SecretBytes] = []
        for master in masters {
            keys.append(try LibCrypto.derive(master, Array("latchkey enrolment codes 1\0".utf8)))
        }
        codeKeys = keys
    }
}
