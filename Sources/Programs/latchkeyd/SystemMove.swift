// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SystemDriver

/// The system's keychain as the destination of the items of a user's own store.
final class SystemMove: MoveDestination {
    /// Seconds for connecting to the system's keychain, whose service may have to be started.
    private static let connectSeconds: Int64 = 10
    private let folder: StoreFolder

    /// The destination of the store in `folder`; nil if `LATCHKEY_HOME` chose it, because programs would then not use
    /// the system's keychain after the move.
    init?(_ folder: StoreFolder) {
        guard Environment.value("LATCHKEY_HOME") == nil else { return nil }
        self.folder = folder
    }

    func connect() throws(Failure) -> any MoveConnection {
        let client = Client(ofSystemFor: "latchkeyd", seconds: Self.connectSeconds)
        if let problem = try client.call(Request.Status()).problem { throw problem }
        return Connection(client: client, generation: client.generation)
    }

    func retireStore() throws(Failure) { try folder.retire() }

    /// A terminating signal stops the server and then the service, as at any other end.
    func endProcess() { kill(getpid(), SIGTERM) }

    private final class Connection: MoveConnection {
        private let client: Client
        private let generation: UInt64

        init(client: Client, generation: UInt64) { (self.client, self.generation) = (client, generation) }

        func send(_ items: Request.ReceiveItems) throws(Failure) -> MigrationOutcome? {
            // The items of an earlier connection are lost with it, so a new one must not continue the migration. The
            // system's keychain refuses that as well, since a ticket is accepted once.
            guard client.generation == generation else {
                throw Failure(.daemonUnavailable, "The connection to the system's keychain ended.", hint: "Try again.")
            }
            return try client.call(items)
        }
    }
}
