// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel

/// Opens connections and holds them, like a program with a client for each of its parts. Prints whether each is
/// served, and runs until it is killed.
struct Connector {
    private let count: Int

    init(_ count: String) { self.count = Int(count) ?? 0 }

    func run() {
        var clients: [Client] = []
        for _ in 0..<count {
            let client = Client(ofDaemonFor: "connector", faceUsage: nil)
            do throws(Failure) {
                _ = try client.call(Request.Status())
                clients.append(client)
            } catch {
                print("refused \(error.status) \(error.message)")
            }
        }
        print("connected \(clients.count)")
        fflush(nil)
        withExtendedLifetime(clients) { while true { pause() } }
    }
}
