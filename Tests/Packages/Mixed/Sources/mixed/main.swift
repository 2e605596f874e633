// SPDX-License-Identifier: Apache-2.0

import Fetch
import Vault

let vault = Vault(service: "mixed")
let status = vault.keep("a token")
log("\(status) \(vault.token ?? "none") \(Fetch.trust)")
