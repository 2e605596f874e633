// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Fetch

@Test func unlistedTargetIsBuiltWithoutSecurity() { #expect(Fetch.trust == "OpenSSL") }
