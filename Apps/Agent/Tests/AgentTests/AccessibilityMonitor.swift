// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Records all messages on the accessibility bus.
final class AccessibilityMonitor {
    private let monitor: Program

    init() throws {
        let question = try Program(
            "/usr/bin/dbus-send",
            [
                "--session", "--print-reply=literal", "--dest=org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus.GetAddress",
            ])
        let address = question.said.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(address.hasPrefix("unix:"), "the accessibility bus has an address: \(address)")
        monitor = try Program("/usr/bin/dbus-monitor", ["--address", address])
        _ = try heard(until: "NameAcquired")
    }

    deinit {
        monitor.end()
        _ = monitor.status
    }

    /// The messages recorded so far, once they contain `words`; fails after 20 seconds.
    func heard(until words: String, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let text = monitor.saidSoFar
            if text.contains(words) { return text }
            try #require(
                ContinuousClock.now < deadline, "no message contains \(words)", sourceLocation: sourceLocation)
            poll(nil, 0, 20)
        }
    }
}
