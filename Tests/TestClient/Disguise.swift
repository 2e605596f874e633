// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

/// Requests a protected item, and passes its connection to another program before the answer: by executing that
/// program, or by starting it as a child and exiting.
struct Disguise {
    private let manner: String

    init(_ manner: String) { self.manner = manner }

    func run() {
        do {
            let connection = try DaemonFinder.connect()
            try send(Request.Hello(application: "test"), 1, connection)
            let reply = try Message(decoding: try Frame.receive(from: connection, until: nil))
            if case .reply(_, .welcome(let welcome)) = reply, let challenge = welcome.challenge {
                try send(Request.Hello(application: "test", challenge: challenge), 4, connection)
                _ = try Frame.receive(from: connection, until: nil)
            }
            let query = ItemQuery(itemClass: .genericPassword, attributes: [.account: .text("protected")])
            try send(
                Request.CopyItems(query: query, limit: .one, returns: .data, authentication: Authentication()),
                2, connection)
            // Requests are processed in order: once this one is answered, the previous one waits for the user.
            try send(Request.Status(), 3, connection)
            _ = try Frame.receive(from: connection, until: nil)
            if manner == "executes" {
                _ = fcntl(connection.number, F_SETFD, 0)
                let words: [String] = ["/bin/sh", "-c", "echo changed $$; exec sleep 600"]
                var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
                execv("/bin/sh", &arguments)
                exit(1)
            }
            _ = try Processes.spawn(
                "/bin/sh", ["-c", "echo changed $$; exec sleep 600"],
                descriptors: [connection, Descriptor(owning: dup(1))])
            // The child keeps the connection open.
            exit(0)
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    private func send(_ request: some DaemonRequest, _ id: UInt64, _ connection: Descriptor) throws {
        try Frame.send(Message.encoded(request, id: id), to: connection)
    }
}
