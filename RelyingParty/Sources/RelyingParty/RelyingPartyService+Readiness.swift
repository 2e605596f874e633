// SPDX-License-Identifier: Apache-2.0

extension RelyingPartyService {
    /// Checks that the storage takes a durable write, at most once a second: this needs no proof, and must not let a
    /// client write as often as it likes.
    ///
    /// - Throws: `unavailable`.
    public func checkStorage() throws(RelyingPartyError) {
        let now = now
        let known = readiness.withLock { $0 }
        if let known, known.time == now {
            guard let failure = known.failure else { return }
            throw failure
        }
        var failure: RelyingPartyError?
        do throws(RelyingPartyError) {
            try working {
                try storage.transaction { database in
                    for check in Statements.checks { _ = try database.run(check, []) }
                }
            }
        } catch {
            failure = error
        }
        readiness.withLock { $0 = (now, failure) }
        if let failure { throw failure }
    }
}
