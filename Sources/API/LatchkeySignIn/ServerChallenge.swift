// SPDX-License-Identifier: Apache-2.0

/// A challenge that was checked: it is one of the relying party, for this message, and not too old.
///
/// The server checks all of this again. The client does it first so that a server which lies, or passes on the challenge of
/// another one, is refused before the user is asked for a finger.
struct ServerChallenge: Sendable {
    let bytes: [UInt8]

    private static let byteCount = 145
    /// How far the clocks of this machine and the server may differ.
    static let clockSeconds: Int64 = 300
    /// How far the clocks of the nodes of one server, and of a proxy before them, may differ.
    static let nodeSeconds: Int64 = 30
    /// The longest time for which a server may be configured to accept a challenge.
    static let longestLife: Int64 = 600

    /// Checks the challenge of a server.
    ///
    /// - Parameters:
    ///   - bytes: the challenge.
    ///   - message: what will be signed.
    ///   - now: the time of this machine, seconds since 1970.
    ///   - serverTime: the time that the server named with the challenge; nil if it named none.
    /// - Throws: `unexpectedReply`, `otherRelyingParty`, `foreignChallenge`, `clockDiffers` or `staleChallenge`.
    init(_ bytes: [UInt8], for message: BoundMessage, at now: Int64, serverTime: Int64?) throws(SignInError) {
        guard bytes.count == Self.byteCount, bytes[0] == 1 else { throw SignInError(.unexpectedReply) }
        guard try bytes[1..<33].elementsEqual(message.relyingPartyDigest()) else {
            throw SignInError(.otherRelyingParty)
        }
        guard try bytes[33..<65].elementsEqual(message.bindingDigest()) else { throw SignInError(.foreignChallenge) }
        // Times after the year 292 billion are negative here.
        let (issued, expiry) = (Self.number(bytes[65..<73]), Self.number(bytes[73..<81]))
        guard issued >= 0, expiry > issued, expiry - issued <= Self.longestLife else {
            throw SignInError(.staleChallenge)
        }
        if let serverTime { try Self.compareClocks(now, serverTime) }
        let (time, tolerance) = serverTime.map { ($0, Self.nodeSeconds) } ?? (now, Self.clockSeconds)
        // Times are those of clocks, so that the sums do not overflow; `issued` and `expiry` are compared only.
        guard issued <= time + tolerance, expiry > time - tolerance else {
            // Without the server's time an old challenge cannot be told from a clock that is wrong.
            if serverTime == nil { try Self.compareClocks(now, issued) }
            throw SignInError(.staleChallenge)
        }
        self.bytes = bytes
    }

    private static func compareClocks(_ now: Int64, _ serverTime: Int64) throws(SignInError) {
        let (difference, isTooLarge) = now.subtractingReportingOverflow(serverTime)
        guard !isTooLarge else { throw SignInError(.unexpectedReply) }
        guard difference.magnitude > clockSeconds else { return }
        // Rounded to the nearest minute.
        throw SignInError(.clockDiffers(minutes: Int((difference + (difference > 0 ? 30 : -30)) / 60)))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
}
