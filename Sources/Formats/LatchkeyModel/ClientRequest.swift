// SPDX-License-Identifier: Apache-2.0

/// A request of a client, as a type that states its number, its reply and what a client has to know before it sends it.
///
/// A new request is a type in `Request` that conforms, its parameters in LatchkeyWire, a case of `Request`, a case where
/// `Request` is decoded and a case in `Session.handle`. The encoding follows from the type, and so does the reply:
///
///     let items = try client.call(Request.ListItems(query))
package protocol ClientRequest: Equatable, Sendable {
    /// What a successful reply contains; of a reply in pages that the connection does not join, one page.
    associatedtype Response
    static var operation: Request.Operation { get }
    /// Depends on the parameters: only the first request of a backup asks, for example.
    var traits: RequestTraits { get }
    /// The contents of a reply; nil for a kind of reply that does not answer this request.
    static func response(_ reply: Reply) -> Response?
}

/// A request without parameters.
package protocol BareRequest: ClientRequest {
    init()
}

/// What a client has to know about a request.
package struct RequestTraits: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The daemon may show a prompt before it replies.
    package static let mayAsk = RequestTraits(rawValue: 1)
    /// The reply may wait for the user, or takes time in proportion to the size of the store.
    package static let mayTakeLong = RequestTraits(rawValue: 2)
    /// Idempotent, and without a second prompt: may be sent again when its reply was lost.
    package static let mayBeRepeated = RequestTraits(rawValue: 4)
    /// Waits for a prompt, which a repetition would show again.
    package static let asks: RequestTraits = [.mayAsk, .mayTakeLong]
}

extension ClientRequest {
    /// The contents of the reply; throws the failure that it reports.
    package static func contents(of reply: Reply) throws(Failure) -> Response {
        if case .failure(let failure) = reply { throw failure }
        guard let response = Self.response(reply) else { throw .unexpectedReply }
        return response
    }
}

extension Failure {
    /// The failure for a reply that does not answer the request.
    package static let unexpectedReply = Failure(
        .internalFailure, "The daemon sent an unexpected kind of reply.",
        hint: "Install the same version of all programs.")
}

// MARK: - Replies by their contents

extension ClientRequest where Response == Void {
    package static func response(_ reply: Reply) -> Void? { if case .done = reply { () } else { nil } }
}

extension ClientRequest where Response == StatusReport {
    package static func response(_ reply: Reply) -> StatusReport? {
        if case .status(let report) = reply { report } else { nil }
    }
}

extension ClientRequest where Response == [FoundItem] {
    package static func response(_ reply: Reply) -> [FoundItem]? {
        if case .items(let items, _) = reply { items } else { nil }
    }
}

extension ClientRequest where Response == MigrationOutcome? {
    package static func response(_ reply: Reply) -> MigrationOutcome?? {
        switch reply {
        case .done: .some(nil)
        case .migrated(let report): .moved(report)
        case .migrationWouldLeaveItems(let report): .wouldLeaveItems(report)
        default: nil
        }
    }
}

extension ClientRequest where Response == CheckReport {
    package static func response(_ reply: Reply) -> CheckReport? {
        if case .check(let report) = reply { report } else { nil }
    }
}

extension ClientRequest where Response == EnclaveKey {
    package static func response(_ reply: Reply) -> EnclaveKey? {
        if case .enclaveKey(let key) = reply { key } else { nil }
    }
}

extension ClientRequest where Response == [UInt8] {
    package static func response(_ reply: Reply) -> [UInt8]? {
        if case .attestationMessage(let message) = reply { message } else { nil }
    }
}
