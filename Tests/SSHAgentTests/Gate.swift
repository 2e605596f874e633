// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem

/// Blocks threads until it is opened.
final class Gate: Sendable {
    private let (near, far): (Descriptor, Descriptor)

    init() {
        // A test without sockets cannot run.
        // swift-format-ignore: NeverUseForceTry
        (near, far) = try! Sockets.pair()
    }

    func wait() { _ = try? near.wait(for: 1, until: Uptime.deadline(seconds: 30)) }

    func open() { Sockets.shutDown(far) }
}
