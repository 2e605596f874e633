// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Vault

@Test func listedTargetUsesKeychain() {
    let vault = Vault(service: "mixed tests")
    #expect(vault.keep("one") == 0)
    #expect(vault.token == "one")
}
