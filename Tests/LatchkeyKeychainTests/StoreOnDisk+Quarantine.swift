// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

@testable import LatchkeyKeychain

extension StoreOnDisk {
    /// A store with the items "one", "two" and "three".
    static func withThreeItems() throws -> StoreOnDisk {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        for account in ["one", "two", "three"] { try keychain.add(account, "secret of \(account)") }
        return store
    }
}

extension Keychain {
    /// Returns the quarantined rows.
    func quarantinedRows() throws -> [QuarantinedRow] {
        var rows: [QuarantinedRow] = []
        try store.read { (store) throws(Failure) in
            try store.forEachQuarantined { (row) throws(Failure) in
                rows.append(row)
                return true
            }
        }
        return rows
    }
}
