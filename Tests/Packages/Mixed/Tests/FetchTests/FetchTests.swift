// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Fetch

@Test func aTargetThatIsNotListedIsBuiltAsBefore() { #expect(Fetch.trust == "OpenSSL") }
