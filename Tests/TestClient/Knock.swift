// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire

/// Connects to a socket by its path, regardless of its owner, sends hello, and prints the result.
struct Knock {
    private let path: String

    init(_ path: String) { self.path = path }

    func run() {
        do {
            let socket = try Sockets.connect(path)
            let hello = Message.encoded(Request.Hello(application: "knock"), id: 1)
            try? Frame.send(hello, to: socket)
            do throws(FrameError) {
                _ = try Frame.receive(from: socket, until: Uptime.deadline(seconds: 20))
                print("answered")
            } catch {
                print(error == .closed ? "closed" : "failed \(error)")
            }
        } catch {
            print("cannot connect: \(error.description)")
        }
    }
}
