// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Strongbox
import Testing

@Suite struct AccessibilityTests {
    @Test(arguments: Accessibility.allCases) func everyCaseHasARawValue(of accessibility: Accessibility) {
        #expect(!(accessibility.rawValue as String).isEmpty)
    }

    @Test func protectedItemIsNotReadWithoutProof() throws {
        let box = Strongbox(service: "strongbox.\(UUID().uuidString)")
        defer { try? box.removeAll() }
        box.protection = .userPresence
        // A device without a passcode refuses to store the item, any other one refuses to read it without a proof.
        #expect(throws: StrongboxError.self) {
            try box.set(Data("secret".utf8), for: "guarded")
            _ = try box.data(for: "guarded")
        }
    }
}
