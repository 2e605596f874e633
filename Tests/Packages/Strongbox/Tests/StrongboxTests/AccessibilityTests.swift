// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Strongbox
import Testing

@Suite struct AccessibilityTests {
    @Test(arguments: Accessibility.allCases) func everyCaseHasAName(of accessibility: Accessibility) {
        #expect(!(accessibility.rawValue as String).isEmpty)
    }

    @Test func aProtectedItemIsNotReadSilently() throws {
        let box = Strongbox(service: "strongbox.\(UUID().uuidString)")
        defer { try? box.removeAll() }
        box.protection = .userPresence
        // A device without a passcode refuses to keep it or to open it; none gives it away.
        #expect(throws: StrongboxError.self) {
            try box.set(Data("secret".utf8), for: "guarded")
            _ = try box.data(for: "guarded")
        }
    }
}
