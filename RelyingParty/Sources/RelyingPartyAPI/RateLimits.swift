// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import Synchronization

/// Limits how often the clients of one network are told why they were refused. Counted in memory; a restart forgets the
/// counts.
///
/// A proof is verified first, and counts only when it was refused. So a limit never refuses a valid request, whatever other
/// clients of the same network send: many people share an address. What a limit does is to tell a client that guesses, or a
/// program with an old token, to wait. The work for wrong proofs is bounded by the threads that verify, and by the number
/// of requests of one network that wait for them (`Workers`).
///
/// Requests without a proof, such as those for a challenge, have no limit: computing a challenge takes less time than
/// reading its request, and a limit would be one that strangers in the same network can use up.
package final class RateLimits: Sendable {
    /// A number of events at once, and one more after each interval.
    struct Rate {
        let burst: Int64
        /// In nanoseconds.
        let interval: Int64
    }

    /// What was refused. Each kind is counted for itself, so that refusals of one kind do not slow down those of another.
    package enum Kind: Hashable, Sendable {
        case token, code, signature
        /// The credential of a registered service.
        case service
    }

    /// What is counted, each for the network of a client. Refused signatures of a user or a key never count without the
    /// network: a stranger could slow down users otherwise.
    enum Subject: Hashable {
        case refusals(Kind, [UInt8])
        /// With the bytes of the name, because texts are equal in Swift although their bytes differ.
        case signaturesOfUser([UInt8], [UInt8])
        case signaturesOfKey([UInt8], [UInt8])

        var rate: Rate {
            switch self {
            case .refusals: Rate(burst: 30, interval: 2_000_000_000)
            case .signaturesOfUser, .signaturesOfKey: Rate(burst: 10, interval: 10_000_000_000)
            }
        }
    }

    /// The most subjects that are remembered: about 20 MiB.
    static let mostSubjects = 100_000
    /// When the events of a subject, one after each interval, would end, in nanoseconds of the monotonic clock. A time
    /// that has passed means the same as none.
    private let ends = Mutex<[Subject: Int64]>([:])
    private let clock: @Sendable () -> Int64
    /// How many subjects are remembered.
    var count: Int { ends.withLock(\.count) }

    /// - Parameter clock: a monotonic time in nanoseconds.
    package init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    /// Counts a refusal if it is permitted.
    ///
    /// - Returns: nil if it is, otherwise the seconds until one will be, rounded up.
    func admit(_ subject: Subject) -> Int64? {
        let (now, rate) = (clock(), subject.rate)
        return ends.withLock { ends in
            let end = max(ends[subject] ?? now, now) + rate.interval
            let late = end - now - rate.burst * rate.interval
            // Refusals beyond the limit do not extend the wait.
            guard late <= 0 else { return (late + 999_999_999) / 1_000_000_000 }
            if ends[subject] == nil, ends.count >= Self.mostSubjects {
                ends = ends.filter { $0.value > now }
                // Clients of very many networks at once: all counts begin again, because memory must not grow.
                if ends.count >= Self.mostSubjects { ends = [:] }
            }
            ends[subject] = end
            return nil
        }
    }
}

extension RefusalReason {
    /// What was refused. Reasons about a key that was verified count as refused signatures as well.
    var kind: RateLimits.Kind {
        switch self {
        case .unknownSession: .token
        case .wrongCode, .browserCode: .code
        case .unknownService: .service
        default: .signature
        }
    }
}
