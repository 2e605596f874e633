// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Whose password is stretched; a queue serves these in turn.
package enum StretchClient: Hashable, Sendable {
    /// The person at a prompt.
    case person
    /// A program, by the path of its executable, or by its name where the kernel tells no path.
    case program(String)
}

/// Runs key stretching (scrypt) on threads of its own: durable writes and other requests do not wait for it.
///
/// At most two stretches run at once, clients are served in turn, and each has a bounded number of stretches waiting, so
/// that a program that sends wrong passwords delays only itself.
package protocol StretchQueue: AnyObject, Sendable {
    /// Runs `work` when it is the turn of `client`.
    ///
    /// Throws `limitExceeded` when `Limits.stretchesWaiting` stretches of that program wait already.
    func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure)
}

/// Waiting work, taken round robin by client.
package struct StretchLine<Work: Sendable>: Sendable {
    /// Clients with waiting work; the first one is served next.
    private var clients: [StretchClient] = []
    private var waiting: [StretchClient: [Work]] = [:]

    /// Nothing waits.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { clients.isEmpty }

    /// Appends work of a client. Prompts have no bound here: each evaluation has at most one passcode under way.
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

    /// Takes the oldest work of the client whose turn it is; that client then goes behind all others.
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
