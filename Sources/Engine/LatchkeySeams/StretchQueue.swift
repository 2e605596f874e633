// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The client for which a password is stretched; the queue serves clients in turn.
package enum StretchClient: Hashable, Sendable {
    /// The user who enters a passcode at a prompt.
    case person
    /// A program, identified by the path of its executable, or by its label if the kernel reports no path.
    case program(String)
}

/// The role that runs key stretching (scrypt) on separate threads, so that writes and other requests do not wait for
/// it.
///
/// At most two stretches run at once, clients are served in turn, and the number of waiting stretches of each program
/// is limited, so that a program that sends wrong passwords delays only itself.
package protocol StretchQueue: AnyObject, Sendable {
    /// Runs `work` when it is the turn of `client`.
    ///
    /// - Throws: `limitExceeded` if `Limits.stretchesWaiting` stretches of the program are waiting already.
    func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure)
}

/// A queue of work that is served round robin by client.
package struct StretchLine<Work: Sendable>: Sendable {
    /// Clients with waiting work; the first one is served next.
    private var clients: [StretchClient] = []
    private var waiting: [StretchClient: [Work]] = [:]

    package init() {}

    package var isEmpty: Bool { clients.isEmpty }

    /// Appends work of a client.
    ///
    /// `person` has no limit here, since each evaluation has at most one passcode under way.
    ///
    /// - Throws: `limitExceeded` if `Limits.stretchesWaiting` pieces of work of the program are waiting already.
    package mutating func add(_ work: Work, of client: StretchClient) throws(Failure) {
        let count = waiting[client]?.count ?? 0
        guard client == .person || count < Limits.stretchesWaiting else {
            throw Failure(
                .limitExceeded, "At most \(Limits.stretchesWaiting) passwords of one program wait to be checked.",
                hint: "Try again when earlier requests have been answered.")
        }
        if count == 0 { clients.append(client) }
        waiting[client, default: []].append(work)
    }

    /// Removes and returns the oldest work of the client whose turn it is, and moves that client behind all others.
    package mutating func next() -> Work? {
        guard let client = clients.first else { return nil }
        clients.removeFirst()
        guard var work = waiting.removeValue(forKey: client), !work.isEmpty else { return nil }
        let first = work.removeFirst()
        if !work.isEmpty {
            waiting[client] = work
            clients.append(client)
        }
        return first
    }
}
